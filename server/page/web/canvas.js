// Canvases: as large as they are shown, with a cursor that a pointer or the keyboard moves.

// A context in CSS pixels; `height`: of one that is as high as what it shows, else its box says.
function contextOf(canvas, height) {
  const width = Math.max(1, Math.floor(canvas.parentElement.clientWidth));
  const high = Math.max(1, Math.floor(height || canvas.parentElement.clientHeight));
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(high * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(high * ratio);
  }
  if (height) canvas.style.height = `${high}px`;
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, high);
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  return {context, width, height: high};
}

// Text that fits into `room` pixels.
function fitted(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  let fit = text.slice(0, 40);
  while (fit.length > 1 && context.measureText(`${fit}…`).width > room) fit = fit.slice(0, -1);
  return `${fit}…`;
}

// A few round numbers between two.
function ticks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) || rough;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-6; at += step) found.push(at);
  return found;
}

// Seconds that a clock has.
function clockTicks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400]
    .find((each) => each >= rough) || 86400 * Math.ceil(rough / 86400);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) found.push(at);
  return found;
}

// `move(x, y)` is told where the pointer is, `step(across, down)` which way an arrow key points, `leave()` its end.
function listen(canvas, {move, step, leave}) {
  canvas.addEventListener('pointermove', (event) => move(event.offsetX, event.offsetY));
  canvas.addEventListener('pointerdown', (event) => move(event.offsetX, event.offsetY));
  canvas.addEventListener('pointerleave', leave);
  canvas.addEventListener('blur', leave);
  canvas.addEventListener('keydown', (event) => {
    const way = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (way) {
      event.preventDefault();
      step(way[0], way[1]);
    } else if (event.key === 'Escape') {
      leave();
    }
  });
}
