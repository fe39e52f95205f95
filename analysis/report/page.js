"use strict";
// Rows are filtered here, and drawn by Vega-Lite, whose expressions are interpreted (`ast`): the
// page's content security policy allows no script that is not in the file.
const data = JSON.parse(document.getElementById("data").textContent);
const AXES = ["trace", "load", "policy"];
const ALL = "";
const FIRST_ROWS = 100;
const NONE = { name: "", title: "no metric", units: "1" };
const state = { metric: (data.metrics[0] || NONE).name, trace: ALL, load: ALL, policy: ALL };

const metric = () => data.metrics.find((one) => one.name === state.metric) || NONE;
const titled = (one) => one.title + (one.units === "1" ? "" : ", " + one.units);

const cache = {};
function rows(name) {
  if (!cache[name]) {
    const { labels, columns } = data.tables[name];
    const names = Object.keys(columns);
    const count = names.length ? columns[names[0]].length : 0;
    cache[name] = Array.from({ length: count }, (_, i) => {
      const row = {};
      for (const key of names) {
        const value = columns[key][i];
        row[key] = labels[key] && value !== null ? labels[key][value] : value;
      }
      return row;
    });
  }
  return cache[name];
}

function chosen(name) {
  return rows(name).filter(
    (row) =>
      (row.metric === undefined || row.metric === state.metric) &&
      AXES.every((axis) => state[axis] === ALL || row[axis] === undefined || row[axis] === null || row[axis] === state[axis])
  );
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function number(x) {
  if (x === null || x === undefined) return "-";
  const digits = Math.abs(x) >= 1000 ? 0 : Number.isInteger(x) ? 0 : 4;
  const said = digits ? String(Number(x.toPrecision(digits))) : x.toFixed(0);
  const [whole, part] = said.split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, "\u2009") + (part ? "." + part : "");
}
const signed = (x) => (x > 0 ? "+" : "") + number(x);
const percent = (x) => (x === null ? "-" : (x > 0 ? "+" : "") + x.toFixed(1) + " %");
const share = (x) => (x === null ? "-" : x.toFixed(x < 10 ? 1 : 0) + " %");
const plain = (x) => (x === null ? "-" : String(x));

// Columns of each table: key, title, how a value is written; text without it.
const COLUMNS = {
  comparison: [
    ["trace", "trace"], ["load", "load"], ["policy", "policy"],
    ["mean", "mean", number], ["baseline", data.baseline, number], ["change", "change", percent],
    ["low", "from", percent], ["high", "to", percent], ["better", "better in", plain],
    ["pairs", "pairs", plain], ["p", "p (Holm)", number], ["log", "in the log", percent],
  ],
  groups: [
    ["group", data.by], ["trace", "trace"], ["load", "load"], ["policy", "policy"],
    ["jobs", "jobs", share], ["work", "work", share], ["before", data.baseline, number],
    ["after", "under policy", number], ["change", "change", signed], ["least", "least", signed],
    ["most", "most", signed], ["loses", "loses in", plain], ["of", "samples", plain],
  ],
  near: [
    ["by", "by"], ["group", "group"], ["trace", "trace"], ["load", "load"], ["policy", "policy"],
    ["jobs", "jobs", number], ["simulated", "simulated (s)", number],
    ["logged", "logged (s)", number], ["difference", "difference (s)", signed],
  ],
  levels: [
    ["trace", "trace"], ["load", "load"], ["policy", "policy"], ["low", "low", number],
    ["middle", "middle", number], ["high", "high", number], ["own", "the log itself", number],
    ["logged", "as logged", number],
  ],
  samples: [
    ["trace", "trace"], ["load", "load"], ["policy", "policy"], ["resample", "sample", plain],
    ["change", "change", percent],
  ],
  weeks: [
    ["trace", "trace"], ["load", "load"], ["series", "policy"], ["week", "week", plain],
    ["wait", "mean wait (s)", number],
  ],
  failed: [
    ["trace", "trace"], ["resample", "resample", plain], ["load", "load"], ["policy", "policy"],
    ["error", "error"],
  ],
  missing: [
    ["trace", "trace"], ["load", "load"], ["policy", "policy"], ["missing", "missing", plain],
    ["of", "of", plain],
  ],
};
const OF_METRIC = ["comparison", "levels", "samples"];
const sorting = {};
const limits = {};

function ordered(name, found) {
  const by = sorting[name];
  if (!by) return found;
  const sign = by.down ? -1 : 1;
  const order = new Intl.Collator("en", { numeric: true });
  return [...found].sort((a, b) => {
    const [x, y] = [a[by.key], b[by.key]];
    if (x === null || y === null) return (x === null) - (y === null);
    return sign * (typeof x === "number" ? x - y : order.compare(x, y));
  });
}

function tabulate(name) {
  const target = document.getElementById("table-" + name);
  if (!target) return;
  const focused = target.contains(document.activeElement) && document.activeElement.dataset.key;
  const found = ordered(name, chosen(name));
  const shown = found.slice(0, limits[name] || FIRST_ROWS);
  const head = element("tr");
  for (const [key, title, write] of COLUMNS[name]) {
    const by = sorting[name];
    const mine = by && by.key === key;
    const arrow = element("span", { "aria-hidden": "true" }, mine ? (by.down ? " \u25be" : " \u25b4") : "");
    const button = element("button", { type: "button", "data-key": key }, title, arrow);
    button.addEventListener("click", () => {
      sorting[name] = { key, down: mine ? !by.down : false };
      tabulate(name);
      say("sorted by " + title + ", " + (sorting[name].down ? "descending" : "ascending"));
    });
    const cell = element("th", { scope: "col", class: write ? "number" : "text" }, button);
    cell.setAttribute("aria-sort", mine ? (by.down ? "descending" : "ascending") : "none");
    head.append(cell);
  }
  const body = element("tbody");
  for (const row of shown) {
    const line = element("tr");
    for (const [key, , write] of COLUMNS[name]) {
      const text = write ? write(row[key]) : row[key];
      line.append(element("td", { class: write ? "number" : "text" }, text));
    }
    body.append(line);
  }
  const about = OF_METRIC.includes(name) ? titled(metric()) + ". " : "";
  const caption = element("caption", {}, about + count(shown.length, found.length));
  target.replaceChildren(element("table", {}, caption, element("thead", {}, head), body));
  if (shown.length < found.length) {
    const more = element("button", { type: "button", class: "more" }, "Show all " + found.length + " rows");
    more.addEventListener("click", () => {
      limits[name] = found.length;
      tabulate(name);
    });
    target.append(more);
  }
  if (focused) target.querySelector('[data-key="' + focused + '"]').focus();
}

const count = (shown, all) =>
  shown === all ? all + (all === 1 ? " row" : " rows") : "The first " + shown + " of " + all + " rows";

function filled(spec, text) {
  return JSON.parse(JSON.stringify(spec), (_, value) =>
    typeof value === "string" && value.includes("{metric}") ? value.replace("{metric}", text) : value
  );
}

// Vega warns of an axis without values, such as those of a log in the page of a model.
function withValues(spec, values) {
  const drawn = (layer) =>
    ["x", "y"].every((channel) => {
      const field = layer.encoding && layer.encoding[channel] && layer.encoding[channel].field;
      return !field || values.some((row) => row[field] !== null);
    });
  return { ...spec, layer: spec.layer.filter(drawn) };
}

const CONFIG = {
  background: "white",
  view: { stroke: null },
  axis: { gridColor: "#e4e4e4", domainColor: "#888", tickColor: "#888", labelFontSize: 12,
    titleFontSize: 12, titleFontWeight: "normal", labelFlush: true },
  legend: { labelFontSize: 12, symbolSize: 80 },
};
const views = {};
let turn = 0;

async function draw(figure) {
  const mine = turn;
  const target = document.getElementById("canvas-" + figure.name);
  const summary = document.getElementById("summary-" + figure.name);
  const found = chosen(figure.table);
  const values = found.slice(0, figure.most).map((row) => ({ ...row, place: row.trace + ", " + row.load }));
  if (views[figure.name]) views[figure.name].finalize();
  delete views[figure.name];
  target.replaceChildren();
  target.removeAttribute("role");
  if (!values.length) {
    summary.textContent = "Nothing to draw.";
    return;
  }
  const more = found.length > values.length
    ? " The first " + values.length + " of " + found.length + " are drawn: choose a trace, a load or a policy." : "";
  const rule = figure.table === "levels" && metric().band ? " Low, middle and high: " + metric().band + "." : "";
  summary.textContent = described(figure, values) + rule + more;
  const height = figure.rows
    ? { height: 30 + figure.step * new Set(values.map((row) => row[figure.rows])).size } : {};
  const spec = { width: "container", ...height, config: CONFIG,
    data: { name: "rows", values }, ...withValues(filled(figure.spec, titled(metric())), values) };
  const made = await vegaEmbed(target, spec, {
    mode: "vega-lite", ast: true, actions: false, renderer: "svg", defaultStyle: false,
    tooltip: { disableDefaultStyle: true },
  });
  // After embedding, which sets a label without content.
  target.setAttribute("role", "img");
  target.setAttribute("aria-label", summary.textContent);
  if (mine !== turn) made.finalize();
  else views[figure.name] = made;
}

function described(figure, values) {
  const key = { comparison: "change", samples: "change", levels: "middle", groups: "change",
    weeks: "wait" }[figure.table];
  const there = values.filter((row) => row[key] !== null);
  const marks = values.length + (values.length === 1 ? " mark" : " marks");
  if (!there.length) return marks + ".";
  const ends = [(a, b) => (a[key] <= b[key] ? a : b), (a, b) => (a[key] >= b[key] ? a : b)].map((better) =>
    there.reduce(better)
  );
  const write = key === "middle" || key === "wait" ? number : figure.table === "groups" ? signed : percent;
  const where = (row) => [row.group, row.series || row.policy, row.week && "week " + row.week, row.trace, row.load]
    .filter((x) => x !== undefined).join(", ");
  return marks + ", from " + write(ends[0][key]) + " (" + where(ends[0]) + ") to " + write(ends[1][key]) +
    " (" + where(ends[1]) + ").";
}

function say(text) {
  document.getElementById("status").textContent = text;
}

async function show() {
  turn += 1;
  Object.keys(COLUMNS).forEach(tabulate);
  const parts = AXES.map((axis) => axis + " " + (state[axis] === ALL ? "all" : state[axis]));
  const selection = "Shown: " + [titled(metric()), ...parts].join("; ");
  document.getElementById("selection").textContent = selection;
  say(selection);
  try {
    await Promise.all(data.figures.map(draw));
    document.body.dataset.drawn = String(turn);
  } catch (error) {
    console.error(error);
  }
}

function remember() {
  const kept = Object.entries(state).filter(([, value]) => value !== ALL);
  history.replaceState(null, "", "#" + new URLSearchParams(kept).toString());
}

function choices(axis) {
  if (axis === "metric") return data.metrics.map((one) => [one.name, titled(one)]);
  const labels = data.axes[axis].map((one) => [one, one]);
  return labels.length > 1 ? [[ALL, "all"], ...labels] : labels;
}

function begin() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const axis of ["metric", ...AXES]) {
    const select = document.getElementById("by-" + axis);
    for (const [value, text] of choices(axis)) select.append(element("option", { value }, text));
    const wanted = asked.get(axis);
    if (wanted !== null && choices(axis).some(([value]) => value === wanted)) state[axis] = wanted;
    if (choices(axis).length === 1) state[axis] = choices(axis)[0][0];
    select.value = state[axis];
    select.disabled = choices(axis).length === 1;
    select.addEventListener("change", () => {
      state[axis] = select.value;
      remember();
      show();
    });
  }
  document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
  const pause = document.getElementById("pause");
  if (data.refresh && pause) {
    let paused = false;
    pause.addEventListener("click", () => {
      paused = !paused;
      pause.setAttribute("aria-pressed", String(paused));
    });
    setInterval(() => paused || location.reload(), 1000 * data.refresh);
  }
  show();
}

begin();
