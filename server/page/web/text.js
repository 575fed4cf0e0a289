// Words and numbers. Whatever comes from the job is set as text, never as markup.

const byId = (id) => document.getElementById(id);

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function make(tag, text, parent, name) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  if (parent) parent.appendChild(element);
  return element;
}

// 12345 as "12,345"; small numbers with three digits.
function amount(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 1000 || Number.isInteger(value)) return Math.round(value).toLocaleString('en');
  return value.toPrecision(3);
}

function lossText(value) {
  return value === null || value === undefined ? '–' : Math.abs(value) >= 1e-3 ? value.toPrecision(4) : value.toExponential(2);
}

// Bytes a second.
function rateText(value) {
  if (!value) return '–';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  for (; value >= 1000 && unit < units.length - 1; ++unit) value /= 1000;
  return `${value.toFixed(unit ? 1 : 0)} ${units[unit]}/s`;
}

// Seconds as "1:02:03" or "2:03".
function clockText(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (number) => String(number).padStart(2, '0');
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

// Microseconds as "850 µs", "12.3 ms", "4.56 s".
function spanText(micros) {
  if (micros < 1000) return `${Math.round(micros)} µs`;
  if (micros < 1e6) return `${(micros / 1000).toPrecision(3)} ms`;
  return `${(micros / 1e6).toPrecision(3)} s`;
}

// A colour of the scheme that holds now.
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
