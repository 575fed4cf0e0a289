// One step side by side, and what an analysis says in words. Made when somebody asks, for all who look.

const WORK_LINES = [0, 0, 0, 1, 2, 1, 0, 0, 2, 3, 0];  // which of a row's lines a kind of work stands in
const ROW_HIGH = 26;
let analysis = null;     // the newest result
let waterfallRow = null;  // that is pointed at

function drawWaterfall() {
  const found = analysis && analysis.waterfall;
  const canvas = byId('waterfall');
  if (!found || byId('step').hidden) return;
  const {context, width} = contextOf(canvas, found.rows.length * ROW_HIGH + BELOW);
  const left = Math.min(150, Math.floor(width / 3.5));
  const x = (micros) => left + (width - left - 4) * micros / Math.max(1, found.us);
  context.textAlign = 'center';
  for (const at of ticks(0, found.us, Math.floor((width - left) / 90))) {
    context.fillStyle = colour('muted');
    context.fillText(spanText(at), Math.min(x(at) + 1, width - 24), BELOW / 2);
    context.fillStyle = colour('grid');
    context.fillRect(x(at), BELOW, 1, found.rows.length * ROW_HIGH);
  }
  const tints = found.works.map((_, i) => colour(`work-${i}`));
  found.rows.forEach(([name, spans], number) => {
    const top = BELOW + number * ROW_HIGH;
    context.fillStyle = colour(number === waterfallRow ? 'text' : 'muted');
    context.textAlign = 'right';
    context.fillText(fitted(context, name.replace(/^worker /, ''), left - 10), left - 6, top + ROW_HIGH / 2);
    for (const [work, from, took] of spans) {
      const line = WORK_LINES[work];
      context.fillStyle = tints[work];
      context.fillRect(x(from), top + 2 + line * 6, Math.max(x(from + took) - x(from), 1), line === 0 ? 6 : 5);
    }
    context.fillStyle = colour('grid');
    context.fillRect(0, top + ROW_HIGH - 1, width, 1);
  });
  canvas.setAttribute('aria-label', `what ${found.rows.length} threads did in ${spanText(found.us)}`);
  describeRow();
}

function describeRow() {
  const row = analysis.waterfall.rows[waterfallRow];
  if (!row) return setText(byId('waterfall-readout'), '');
  const parts = row[2].map((took, i) => [took, analysis.waterfall.works[i]]).filter(([took]) => took > 0)
    .sort((a, b) => b[0] - a[0]).map(([took, word]) => `${word} ${spanText(took)}`);
  return setText(byId('waterfall-readout'), `${row[0]}: ${parts.join(', ') || 'nothing'}`);
}

function showAnalysis(result) {
  analysis = result;
  const words = byId('words');
  words.hidden = false;
  byId('step').hidden = !result.waterfall;
  if (result.failure) return setText(words, `It came to nothing: ${result.failure}.`);
  const notes = [];
  if (result.too_large) notes.push('The job is too large to be replayed here; `ballast analyze` says what that costs.');
  if (result.silent_count) notes.push(`Without all records of ${result.silent_count}: ${result.silent.join(', ')}.`);
  setText(words, [result.text.trimEnd(), ...notes].join('\n'));
  const found = result.waterfall;
  setText(byId('step-title'), `${found.step === null ? 'The last' : `Step ${amount(found.step)}:`} ${spanText(found.us)}`
    + `${found.left_out ? `; ${found.left_out} rows are left out` : ''}`);
  const seen = new Set(found.rows.flatMap((row) => row[1].map((span) => span[0])));
  legendOf(byId('step-legend'), found.works, (i) => `work-${i}`, (i) => !seen.has(i));
  return drawWaterfall();
}

async function askForAnalysis() {
  const button = byId('ask');
  button.disabled = true;
  try {
    for (let query = '?ask=1'; ; query = '') {
      const answer = await fetchJson(`analysis.json${query}`);
      if (answer.result && !answer.asking) showAnalysis(answer.result);
      if (!answer.asking) {
        setText(byId('asking'), answer.result ? `as of ${clockText(answer.result.asked_at)}; a new one at most each 10 s` : '');
        return;
      }
      setText(byId('asking'), 'Asking, for up to a minute …');
      await new Promise((done) => { setTimeout(done, 700); });
    }
  } catch (failure) {
    setText(byId('asking'), 'The lead does not answer.');
  } finally {
    button.disabled = false;
  }
}

function listenToWaterfall() {
  const put = (row) => {
    const most = analysis && analysis.waterfall ? analysis.waterfall.rows.length - 1 : 0;
    waterfallRow = row === null ? null : Math.min(Math.max(row, 0), most);
    drawWaterfall();
  };
  listen(byId('waterfall'), {
    move: (x, y) => put(Math.floor((y - BELOW) / ROW_HIGH)),
    step: (across, down) => put((waterfallRow === null ? -1 : waterfallRow) + down),
    leave: () => put(null),
  });
  byId('ask').addEventListener('click', askForAnalysis);
}
