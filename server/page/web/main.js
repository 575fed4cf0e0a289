// Asks the lead again and again while the page is seen, and says when it does not answer.

const PATIENCE = 8000;    // milliseconds for an answer
const MOST_PAUSE = 30000;  // between tries of a lead that does not answer
let heardAt = null;       // of the page's own clock
let failures = 0;
let pending = 0;
let isLooking = false;

// With a header that the pages of other sites cannot send: what is asked for is meant.
async function fetchJson(path) {
  const cut = new AbortController();
  const late = setTimeout(() => cut.abort(), PATIENCE);
  try {
    const answer = await fetch(path, {signal: cut.signal, cache: 'no-store', headers: {'X-Requested-With': 'page'}});
    if (!answer.ok) throw new Error(`${answer.status}`);
    return await answer.json();
  } finally {
    clearTimeout(late);
  }
}

function quality(split) {
  return split.accuracy === null || split.accuracy === undefined ? `loss ${lossText(split.loss)}` : `${(100 * split.accuracy).toFixed(2)} %`;
}

function figures() {
  const {job} = state;
  const left = job.phase === 'training' && job.steps_per_second > 0 ? clockText((job.steps - job.step) / job.steps_per_second) : '–';
  return [
    ['step', `${amount(job.step)} of ${amount(job.steps)}`], ['epochs done', `${amount(job.epoch)} of ${amount(job.epochs)}`],
    ['time left', left], ['examples/s', amount(job.examples_per_second)], ['steps/s', amount(job.steps_per_second)],
    ['loss, last steps', lossText(job.recent_loss)], ['snapshot of step', amount(job.snapshot)],
    ['rollbacks', amount(job.rollbacks)], ['workers lost', amount(job.lost_workers)],
    ...[['validation', job.validation], ['best', job.best], ['test', job.test]].filter(([, split]) => split)
      .map(([word, split]) => [word, quality(split)]),
  ];
}

// In words: what is wrong, or that nothing is.
function verdict() {
  const {job} = state;
  const wrong = [['It has failed: ', job.failure], ['It waits for ', job.waits_for], ['Trouble: ', job.trouble]]
    .filter(([, text]) => text).map(([word, text]) => word + text);
  const held = state.workers.filter((worker) => worker.live && worker.why).length;
  if (held) wrong.push(`${held} of ${state.workers.length} workers ${held === 1 ? 'is' : 'are'} not counted on`);
  return [wrong.length > 0, wrong.length ? `${wrong.join('. ')}.` : `The job is ${job.phase}, and nothing is wrong that the lead knows of.`];
}

function drawFigures() {
  const box = byId('figures');
  figures().forEach(([word, value], i) => {
    const tile = box.children[i] || make('div', undefined, box);
    if (!tile.firstChild) {
      make('span', '', tile, 'muted');
      make('b', '', tile);
    }
    setText(tile.firstChild, word);
    setText(tile.lastChild, value);
  });
}

function draw() {
  if (!state.job) return;
  const {job} = state;
  setText(byId('name'), job.job);
  document.title = `${job.job} – ${job.phase}, step ${job.step}`;
  setText(byId('phase'), job.phase);
  setText(byId('mode'), `mode ${job.mode}`);
  byId('progress').value = job.steps ? job.step / job.steps : 0;
  const [isWrong, words] = verdict();
  setText(byId('verdict'), words);
  byId('verdict').className = isWrong ? 'bad' : '';
  drawFigures();
  drawCurves();
  describeCurves();
  showEvents();
  drawWorkers();
  drawHeat();
  drawShards();
  drawWaterfall();
}

function showContact(again) {
  const contact = byId('contact');
  contact.className = failures ? 'muted bad' : 'muted';
  if (!failures) return setText(contact, `as of ${clockText(state.now)}`);
  const silent = heardAt === null ? '' : ` for ${clockText((performance.now() - heardAt) / 1000)}`;
  return setText(contact, `The lead has not answered${silent}; asked again in ${Math.ceil(again / 1000)} s`);
}

async function newest() {
  try {
    const answer = await fetchJson(`job.json?since=${encodeURIComponent(state.mark)}`);
    failures = 0;
    heardAt = performance.now();
    return answer;
  } catch (failure) {
    failures += 1;
    return null;
  }
}

// One at a time. A tab that is hidden asks nothing, and goes on when it is seen again.
async function look() {
  if (isLooking || document.hidden) return;
  isLooking = true;
  clearTimeout(pending);
  const answer = await newest();
  const again = answer ? Math.max(answer.again_ms, 500) : Math.min(1000 * 2 ** (failures - 1), MOST_PAUSE);
  isLooking = false;
  pending = setTimeout(look, again);
  if (answer) {
    takeAnswer(answer);
    draw();
  }
  showContact(again);
}

function begin() {
  makeHead();
  listenToCurves();
  listenToHeat();
  listenToWaterfall();
  byId('workers-scroll').addEventListener('scroll', drawWorkers, {passive: true});
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) look();
  });
  new ResizeObserver(() => requestAnimationFrame(draw)).observe(document.querySelector('main'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  look();
}

begin();
