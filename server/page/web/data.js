// What the lead has told so far. Everything is numbered, so that what is told twice is known once.

const MOST_EVENTS = 256;
const MOST_COLUMNS = 200;

const state = {
  mark: '', job: null, now: 0, workers: [], workersBeyond: 0, shards: [],
  points: [], events: [], eventsFrom: 0, snapshots: [], snapshotsFrom: 0,
  columns: [], columnsFrom: 0, sessionOfRow: [], nameOfRow: [],
};

function forget() {
  Object.assign(state, {points: [], events: [], eventsFrom: 0, snapshots: [], snapshotsFrom: 0,
    columns: [], columnsFrom: 0, sessionOfRow: [], nameOfRow: []});
}

// Puts what begins at number `from` over what is there: [the number of the first that is kept, all].
function joined(known, knownFrom, part, most) {
  let from = knownFrom;
  let all = known;
  if (part.from > knownFrom + known.length || !known.length) {
    from = part.from;
    all = [];
  }
  all = all.slice(0, Math.max(0, part.from - from)).concat(part.list);
  const beyond = Math.max(0, all.length - most);
  return [from + beyond, all.slice(beyond)];
}

function decodeCodes(text) {
  const bytes = atob(text);
  const codes = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; ++i) codes[i] = bytes.charCodeAt(i);
  return codes;
}

function readColumn([first, last, began, lasted, codes]) {
  return {first, last, began, lasted, codes: decodeCodes(codes)};
}

function readWorker([name, session, row, live, step, slots, phases, slotTime, up, down, why]) {
  return {name, session, row, live, step, slots, data: phases[0], pull: phases[1], compute: phases[2] + phases[3],
    push: phases[4], slotTime, up, down, why};
}

// A row that another worker has now says nothing of it in older steps.
function takeRows(workers) {
  for (const worker of workers) {
    if (worker.row < 0) continue;
    const before = state.sessionOfRow[worker.row];
    if (before !== undefined && before !== worker.session) {
      for (const column of state.columns) {
        if (worker.row < column.codes.length) column.codes[worker.row] = 0;
      }
    }
    state.sessionOfRow[worker.row] = worker.session;
    state.nameOfRow[worker.row] = worker.name;
  }
}

function takeSpeeds(workers, seconds) {
  const before = new Map(state.workers.map((worker) => [worker.session, worker]));
  for (const worker of workers) {
    const known = before.get(worker.session);
    worker.rate = known && seconds > 0 ? (worker.slots - known.slots) / seconds : known ? known.rate : null;
  }
}

function takeAnswer(answer) {
  if (answer.all) forget();
  const workers = answer.workers.map(readWorker);
  takeSpeeds(workers, answer.all ? 0 : answer.now - state.now);
  takeRows(workers);
  Object.assign(state, {mark: answer.mark, job: answer.job, now: answer.now, workers,
    workersBeyond: answer.workers_beyond, shards: answer.shards});
  state.points = state.points.slice(0, answer.points.from).concat(answer.points.list);
  [state.eventsFrom, state.events] = joined(state.events, state.eventsFrom, answer.events, MOST_EVENTS);
  [state.snapshotsFrom, state.snapshots] = joined(state.snapshots, state.snapshotsFrom, answer.snapshots, MOST_EVENTS);
  const columns = {from: answer.late.from, list: answer.late.list.map(readColumn)};
  [state.columnsFrom, state.columns] = joined(state.columns, state.columnsFrom, columns, MOST_COLUMNS);
}
