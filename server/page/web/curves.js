// Loss and throughput over the job's whole time, and what happened on the same axis.

const LEFT = 56;
const BELOW = 20;
let cursorAt = null;  // seconds: where all three charts point at

function timeSpan() {
  return [0, Math.max(state.now, 1)];
}

function timeAxis(context, width, height, left) {
  const [low, high] = timeSpan();
  const x = (at) => left + (width - left - 6) * (at - low) / (high - low);
  context.textAlign = 'center';
  for (const at of clockTicks(low, high, Math.floor(width / 110))) {
    context.strokeStyle = colour('grid');
    context.beginPath();
    context.moveTo(x(at), 4);
    context.lineTo(x(at), height - BELOW);
    context.stroke();
    context.fillStyle = colour('muted');
    context.fillText(clockText(at), Math.min(Math.max(x(at), 18), width - 22), height - BELOW / 2);
  }
  return x;
}

// The least and the largest value that is shown, with room for what is all alike.
function rangeOf(values, isLog, fromZero) {
  let low = Math.min(...values);
  let high = Math.max(...values);
  if (isLog) return [Math.log10(low), Math.log10(high)].map((value, i) => value + (low === high ? [-0.5, 0.5][i] : 0));
  if (fromZero) low = 0;
  return low === high ? [low - Math.abs(low) * 0.1 - 1e-9, high + Math.abs(high) * 0.1 + 1e-9] : [low, high + (high - low) * 0.05];
}

function drawCurve(canvas, index, tint, isLog, fromZero, say) {
  const {context, width, height} = contextOf(canvas);
  const known = state.points.filter((point) => point[index] !== null && (!isLog || point[index] > 0));
  const x = timeAxis(context, width, height, LEFT);
  if (!known.length) return;
  const [low, high] = rangeOf(known.map((point) => point[index]), isLog, fromZero);
  const scale = (value) => (isLog ? Math.log10(value) : value);
  const y = (value) => 6 + (height - BELOW - 10) * (1 - (scale(value) - low) / (high - low));
  context.textAlign = 'right';
  for (const tick of ticks(low, high, Math.floor(height / 48))) {
    const value = isLog ? 10 ** tick : tick;
    context.strokeStyle = colour('grid');
    context.beginPath();
    context.moveTo(LEFT, y(value));
    context.lineTo(width - 6, y(value));
    context.stroke();
    context.fillStyle = colour('muted');
    context.fillText(say(value), LEFT - 6, y(value));
  }
  drawWrong(context, x, height);
  context.strokeStyle = colour(tint);
  context.lineWidth = 2;
  context.beginPath();
  state.points.forEach((point, i) => {
    const before = state.points[i - 1];
    if (point[index] === null || (isLog && point[index] <= 0)) return;
    if (!before || before[index] === null) context.moveTo(x(point[0]), y(point[index]));
    else context.lineTo(x(point[0]), y(point[index]));
  });
  context.stroke();
  context.lineWidth = 1;
  const here = pointAt(cursorAt);
  if (here && here[index] !== null && (!isLog || here[index] > 0)) {
    context.fillStyle = colour(tint);
    context.beginPath();
    context.arc(x(here[0]), y(here[index]), 4, 0, 2 * Math.PI);
    context.fill();
  }
}

// Where something went wrong.
function drawWrong(context, x, height) {
  context.strokeStyle = colour('wrong');
  context.setLineDash([3, 4]);
  for (const event of state.events.filter((each) => each[4])) {
    context.beginPath();
    context.moveTo(x(event[0]), 4);
    context.lineTo(x(event[0]), height - BELOW);
    context.stroke();
  }
  context.setLineDash([]);
}

// The point nearest to a moment.
function pointAt(at) {
  if (at === null || !state.points.length) return null;
  return state.points.reduce((best, point) => (Math.abs(point[0] - at) < Math.abs(best[0] - at) ? point : best));
}

// Three lines: what went wrong, what is only news, snapshots.
function drawTimeline(canvas) {
  const {context, width, height} = contextOf(canvas);
  const x = timeAxis(context, width, height, LEFT);
  const line = (height - BELOW - 4) / 3;
  context.textAlign = 'right';
  context.fillStyle = colour('muted');
  ['wrong', 'news', 'saved'].forEach((word, i) => context.fillText(word, LEFT - 6, 4 + line * (i + 0.5)));
  const diamond = (at, row, tint) => {
    const middle = 4 + line * (row + 0.5);
    context.fillStyle = colour(tint);
    context.beginPath();
    context.moveTo(x(at), middle - 5);
    context.lineTo(x(at) + 5, middle);
    context.lineTo(x(at), middle + 5);
    context.lineTo(x(at) - 5, middle);
    context.fill();
  };
  state.snapshots.forEach(([at]) => {
    context.fillStyle = colour('snapshot');
    context.fillRect(x(at) - 1, 4 + line * 2 + 3, 2, line - 6);
  });
  state.events.filter((event) => !event[4]).forEach((event) => diamond(event[0], 1, 'news'));
  state.events.filter((event) => event[4]).forEach((event) => diamond(event[0], 0, 'wrong'));
  if (cursorAt !== null) {
    context.strokeStyle = colour('text');
    context.beginPath();
    context.moveTo(x(cursorAt), 2);
    context.lineTo(x(cursorAt), height - BELOW);
    context.stroke();
  }
}

function drawCurves() {
  drawCurve(byId('loss'), 2, 'loss', byId('log').checked, false, (value) => String(Number(value.toPrecision(3))));
  drawCurve(byId('speed'), 3, 'speed', false, true, amount);
  drawTimeline(byId('timeline'));
  const here = pointAt(cursorAt);
  const where = here ? `${clockText(here[0])}, step ${amount(here[1])}: ` : '';
  setText(byId('loss-readout'), here ? `${where}loss ${lossText(here[2])}` : '');
  setText(byId('speed-readout'), here ? `${where}${amount(here[3])} examples/s, ${amount(here[4])} steps/s` : '');
  setText(byId('timeline-readout'), cursorAt === null ? '' : nearestEvent());
}

function nearestEvent() {
  const all = state.events.map((event) => [event[0], event[3]])
    .concat(state.snapshots.map(([at, step]) => [at, `snapshot of step ${step}`]));
  if (!all.length) return '';
  const [at, text] = all.reduce((best, each) => (Math.abs(each[0] - cursorAt) < Math.abs(best[0] - cursorAt) ? each : best));
  return `${clockText(at)}: ${text}`;
}

function describeCurves() {
  const known = state.points.filter((point) => point[2] !== null);
  const last = state.points[state.points.length - 1];
  byId('loss').setAttribute('aria-label', known.length
    ? `loss, from ${lossText(known[0][2])} to ${lossText(known[known.length - 1][2])}` : 'loss: none is known yet');
  byId('speed').setAttribute('aria-label', last ? `throughput, ${amount(last[3])} examples a second now` : 'throughput');
  byId('timeline').setAttribute('aria-label', `${state.events.length} events and ${state.snapshots.length} snapshots`);
}

let shownEvents = -1;
function showEvents() {
  const newest = state.eventsFrom + state.events.length;
  if (newest === shownEvents) return;
  shownEvents = newest;
  const list = byId('events');
  list.replaceChildren();
  for (const [at, step, , text, isWrong] of state.events.slice(-100).reverse()) {
    const item = make('li', undefined, list);
    make('time', clockText(at), item);
    make('span', `${text}${step ? ` (step ${amount(step)})` : ''}`, item, isWrong ? 'bad' : '');
  }
}

function listenToCurves() {
  const moveTo = (at) => {
    const [low, high] = timeSpan();
    cursorAt = at === null ? null : Math.min(Math.max(at, low), high);
    drawCurves();
  };
  for (const id of ['loss', 'speed', 'timeline']) {
    const canvas = byId(id);
    listen(canvas, {
      move: (x) => moveTo(timeSpan()[1] * (x - LEFT) / Math.max(canvas.clientWidth - LEFT - 6, 1)),
      step: (across) => moveTo((cursorAt === null ? timeSpan()[1] : cursorAt) + across * timeSpan()[1] / 100),
      leave: () => moveTo(null),
    });
  }
  byId('log').addEventListener('change', drawCurves);
}
