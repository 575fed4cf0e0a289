// Workers by steps: how late each was.

const HEAT_PARTS = [0.02, 0.05, 0.1, 0.25, 0.5];  // of a step's time: where one colour ends
const HEAT_WORDS = ['up to 2 %', '5 %', '10 %', '25 %', '50 %', 'more', 'a step behind'];
const STEP_BEHIND = 255;
let heatCursor = null;  // [column, line]: indices of what is drawn
let heatLines = [];     // rows, in the order in which they are drawn

// As server/page/lateness.h has it, microseconds.
function lateOf(code) {
  return 100 * (2 ** ((code - 1) / 12) - 1);
}

// Microseconds that a step of the column took; of the one that is open as the one before.
function stepTime(index) {
  for (let i = index; i >= 0; --i) {
    const {first, last, lasted} = state.columns[i];
    if (lasted !== null) return 1e6 * lasted / Math.max(1, last - first + 1);
  }
  return 1e6;
}

function heatOf(code, time) {
  if (code === 0) return -1;
  if (code === STEP_BEHIND) return 6;
  const part = lateOf(code) / time;
  const found = HEAT_PARTS.findIndex((end) => part <= end);
  return found < 0 ? 5 : found;
}

function rgb(text) {
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

// A pixel for each worker and column.
function heatImage(tints) {
  const image = new ImageData(Math.max(1, state.columns.length), Math.max(1, heatLines.length));
  state.columns.forEach((column, i) => {
    const time = stepTime(i);
    heatLines.forEach((row, line) => {
      const heat = heatOf(column.codes[row] || 0, time);
      if (heat >= 0) image.data.set([...tints[heat], 255], 4 * (line * image.width + i));
    });
  });
  return image;
}

const heatSheet = document.createElement('canvas');

function drawHeat() {
  const canvas = byId('late');
  heatLines = workersShown().map((worker) => worker.row).filter((row) => row >= 0);
  const each = Math.min(18, Math.max(3, Math.floor(480 / Math.max(1, heatLines.length))));
  const {context, width, height} = contextOf(canvas, Math.max(40, heatLines.length * each + BELOW));
  const left = Math.min(110, Math.floor(width / 4));
  const image = heatImage([...Array(6).keys()].map((heat) => rgb(colour(`heat-${heat}`))).concat([rgb(colour('heat-behind'))]));
  heatSheet.width = image.width;
  heatSheet.height = image.height;
  heatSheet.getContext('2d').putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(heatSheet, left, 0, width - left, heatLines.length * each);
  Object.assign(canvas, {heatLeft: left, heatEach: each});
  context.fillStyle = colour('muted');
  context.textAlign = 'right';
  const every = Math.ceil(13 / each);
  heatLines.forEach((row, line) => {
    if (line % every === 0) context.fillText(fitted(context, state.nameOfRow[row] || '', left - 10), left - 6, (line + 0.5) * each + (every > 1 ? 5 : 0));
  });
  drawHeatSteps(context, left, width, height);
  markHeat(context, left, each, width);
  const first = state.columns[0];
  canvas.setAttribute('aria-label', first
    ? `lateness of ${heatLines.length} workers in steps ${first.first} to ${state.columns[state.columns.length - 1].last}` : 'lateness: nothing is known yet');
}

function drawHeatSteps(context, left, width, height) {
  context.textAlign = 'center';
  const wide = (width - left) / Math.max(1, state.columns.length);
  const every = Math.max(1, Math.ceil(90 / wide));
  state.columns.forEach((column, i) => {
    if (i % every === 0) context.fillText(amount(column.first), Math.min(left + (i + 0.5) * wide + 8, width - 24), height - BELOW / 2);
  });
}

function markHeat(context, left, each, width) {
  if (!heatCursor) return setText(byId('late-readout'), '');
  const [index, line] = heatCursor;
  const column = state.columns[index];
  const row = heatLines[line];
  if (!column || row === undefined) return undefined;
  const wide = (width - left) / state.columns.length;
  context.strokeStyle = colour('text');
  context.strokeRect(left + index * wide, line * each, Math.max(wide, 2), each);
  return setText(byId('late-readout'), `${state.nameOfRow[row] || 'a worker that has gone'}, ${stepsText(column)}: ${lateText(column, row, index)}`);
}

function stepsText({first, last}) {
  return first === last ? `step ${amount(first)}` : `steps ${amount(first)} to ${amount(last)}`;
}

function lateText(column, row, index) {
  const code = column.codes[row] || 0;
  if (code === 0) return 'no part in it';
  if (code === STEP_BEHIND) return 'contributed to it when others did to a later step';
  return `${spanText(lateOf(code))} after the first, ${(100 * lateOf(code) / stepTime(index)).toPrecision(2)} % of a step`;
}

function listenToHeat() {
  const canvas = byId('late');
  const put = (index, line) => {
    const inside = (value, count) => Math.min(Math.max(value, 0), Math.max(count - 1, 0));
    heatCursor = [inside(index, state.columns.length), inside(line, heatLines.length)];
    drawHeat();
  };
  listen(canvas, {
    move: (x, y) => put(Math.floor((x - canvas.heatLeft) / (canvas.clientWidth - canvas.heatLeft) * state.columns.length),
      Math.floor(y / canvas.heatEach)),
    step: (across, down) => (heatCursor ? put(heatCursor[0] + across, heatCursor[1] + down) : put(state.columns.length - 1, 0)),
    leave: () => { heatCursor = null; drawHeat(); },
  });
  legendOf(byId('late-legend'), HEAT_WORDS, (i) => (i === 6 ? 'heat-behind' : `heat-${i}`));
}

// A list of colours and what they mean; `skip`: those that are not there.
function legendOf(list, words, tintOf, skip = () => false) {
  list.replaceChildren();
  words.forEach((word, i) => {
    if (skip(i)) return;
    const item = make('li', undefined, list);
    make('i', undefined, item).style.background = `var(--${tintOf(i)})`;
    item.append(word);
  });
}
