// The table of workers: sorted by a column; only the rows that can be seen are there. And the shards.

const ROW = 32;  // pixels: td of page.css, at 16 a rem
const COLUMNS = [
  ['name', 'worker', (worker) => worker.name],
  ['step', 'step', (worker) => amount(worker.step)],
  ['rate', 'slots/s', (worker) => (worker.rate === null || worker.rate === undefined ? '–' : worker.rate.toFixed(1))],
  ['slotTime', 'slot', (worker) => (worker.slotTime ? spanText(worker.slotTime) : '–')],
  ['data', 'data wait', (worker) => spanText(worker.data)],
  ['pull', 'pull', (worker) => spanText(worker.pull)],
  ['compute', 'compute', (worker) => spanText(worker.compute)],
  ['push', 'push', (worker) => spanText(worker.push)],
  ['up', 'up link', (worker) => rateText(worker.up)],
  ['down', 'down link', (worker) => rateText(worker.down)],
  ['why', 'state', (worker) => worker.why || (worker.live ? '' : 'gone')],
];
const LOWEST_FIRST = ['name', 'step', 'rate', 'up', 'down'];  // of these the least matters most
const order = {by: 'name', isReversed: false};

function compare(a, b) {
  const [left, right] = [a[order.by], b[order.by]];
  if (typeof left === 'string') {
    const found = left.localeCompare(right, 'en', {numeric: true});
    return order.by === 'why' ? -found : found;
  }
  return LOWEST_FIRST.includes(order.by) ? (left || 0) - (right || 0) : (right || 0) - (left || 0);
}

function workersShown() {
  const shown = [...state.workers].sort((a, b) => compare(a, b) || a.name.localeCompare(b.name, 'en', {numeric: true}));
  return order.isReversed ? shown.reverse() : shown;
}

function makeHead() {
  for (const [key, word] of COLUMNS) {
    const head = make('th', undefined, byId('workers-head'));
    head.scope = 'col';
    const button = make('button', word, head);
    button.type = 'button';
    button.addEventListener('click', () => {
      order.isReversed = order.by === key && !order.isReversed;
      order.by = key;
      drawWorkers();
      drawHeat();
    });
  }
}

function spacer(body, rows) {
  if (rows <= 0) return;
  const cell = make('td', undefined, make('tr', undefined, body));
  cell.colSpan = COLUMNS.length;
  cell.style.height = `${rows * ROW}px`;
}

function drawWorkers() {
  const shown = workersShown();
  const scroll = byId('workers-scroll');
  const body = byId('workers');
  const first = Math.max(0, Math.floor(scroll.scrollTop / ROW) - 5);
  const last = Math.min(shown.length, first + Math.ceil(scroll.clientHeight / ROW) + 12);
  const fresh = document.createDocumentFragment();
  spacer(fresh, first);
  for (const worker of shown.slice(first, last)) {
    const row = make('tr', undefined, fresh);
    for (const [key, , text] of COLUMNS) {
      const cell = make('td', text(worker), row, key === 'why' && worker.why ? 'bad' : '');
      if (key === 'name' || key === 'why') cell.title = cell.textContent;
    }
  }
  spacer(fresh, shown.length - last);
  body.replaceChildren(fresh);
  [...byId('workers-head').children].forEach((head, i) => {
    if (COLUMNS[i][0] === order.by) head.setAttribute('aria-sort', order.isReversed ? 'descending' : 'ascending');
    else head.removeAttribute('aria-sort');
  });
  const live = state.workers.filter((worker) => worker.live).length;
  setText(byId('workers-count'), `${amount(live)} live${state.workersBeyond ? `, ${amount(state.workersBeyond)} more are not shown` : ''}`);
}

function drawShards() {
  const list = byId('shards');
  list.replaceChildren();
  const most = Math.max(...state.shards.map((shard) => shard[0]), 1);
  state.shards.forEach(([lanes, serving, departs, silence, first, last], number) => {
    const isWell = lanes === most && serving === lanes && silence < 2 && !departs;
    const item = make('li', undefined, list, isWell ? '' : 'bad');
    make('b', `shard ${number}`, item);
    const words = lanes === 0 ? 'is not there' : departs ? 'is about to leave' : serving < lanes
      ? `${serving} of ${lanes} lanes serve` : silence >= 2 ? `silent for ${amount(silence)} s` : 'serves';
    make('div', words, item);
    make('div', lanes === 0 ? '' : first === last ? `at step ${amount(first)}` : `at steps ${amount(first)} to ${amount(last)}`, item, 'muted');
  });
  setText(byId('shards-count'), `${state.shards.filter((shard) => shard[1] > 0).length} of ${state.shards.length} serve`);
}
