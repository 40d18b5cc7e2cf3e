"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("has-js");

  // Theme: the system's, light, dark, and round again.
  const theme = document.getElementById("theme");
  if (theme) {
    const words = { "": "as the system", light: "light", dark: "dark" };
    theme.addEventListener("click", () => {
      const next = { "": "dark", dark: "light", light: "" }[root.dataset.theme || ""];
      if (next) root.dataset.theme = next;
      else delete root.dataset.theme;
      theme.textContent = "theme: " + words[next];
    });
  }

  // Figures as they are written: "1,204", "0.92", "<0.1 %", "3.92 - 4.24", "178 x" of the line.
  const figure = (words) => {
    const found = /-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?/.exec(words);
    if (!found) return NaN;
    const value = Number(found[0].replaceAll(",", ""));
    return words.endsWith(" x") ? value * 100 : words.startsWith("<") ? value / 2 : value;
  };
  const compare = (a, b) => {
    if (a.value !== b.value && !(Number.isNaN(a.value) && Number.isNaN(b.value))) {
      if (Number.isNaN(a.value)) return 1;
      if (Number.isNaN(b.value)) return -1;
      return a.value - b.value;
    }
    return a.words < b.words ? -1 : a.words > b.words ? 1 : 0;
  };

  // Sorting: the headings become buttons; a third press restores the order of the record.
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    const recorded = [...body.rows];
    const headings = [...table.tHead.rows[0].cells];
    if (recorded.length < 2) continue;
    headings.forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const was = heading.getAttribute("aria-sort");
        const now = was === "ascending" ? "descending" : was === "descending" ? null : "ascending";
        headings.forEach((other) => other.removeAttribute("aria-sort"));
        let rows = recorded;
        if (now) {
          heading.setAttribute("aria-sort", now);
          const isFigure = heading.classList.contains("n");
          const keyed = recorded.map((row) => {
            const words = row.cells[column] ? row.cells[column].textContent : "";
            return { row, words, value: isFigure ? figure(words) : NaN };
          });
          const sign = now === "ascending" ? 1 : -1;
          keyed.sort((a, b) => {
            const blank = (a.words === "") - (b.words === "");
            return blank || sign * compare(a, b);
          });
          rows = keyed.map((one) => one.row);
        }
        body.append(...rows);
      });
    });
  }

  // Filter: all words must be in the row; the target is its first cell; the row of fresh rounds has the engine of its cell.
  for (const form of document.querySelectorAll("form.filter")) {
    const rows = [...document.getElementById(form.dataset.for).tBodies[0].rows];
    const { words, target, engine } = form.elements;
    const count = form.querySelector("output");
    const all = count.textContent;
    const seen = rows.map((row) => ({
      row,
      target: row.cells[0].textContent,
      engine: row.dataset.engine,
      text: [row.dataset.engine, ...[...row.cells].map((cell) => cell.textContent)].join(" ").toLowerCase(),
    }));
    for (const [select, key] of [[target, "target"], [engine, "engine"]]) {
      for (const name of new Set(seen.map((one) => one[key]))) select.append(new Option(name, name));
    }
    const apply = () => {
      const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const one of seen) {
        const fits =
          (!target.value || one.target === target.value) &&
          (!engine.value || one.engine === engine.value) &&
          asked.every((word) => one.text.includes(word));
        one.row.hidden = !fits;
        shown += fits;
      }
      count.textContent = shown === rows.length ? all : shown.toLocaleString("en") + " of " + all;
    };
    form.addEventListener("input", apply);
    form.addEventListener("reset", () => setTimeout(apply));
    form.addEventListener("submit", (event) => event.preventDefault());
    apply();
  }

  // Zoom: only the part of the drawing that is looked at changes.
  for (const plot of document.querySelectorAll("figure.plot")) {
    const canvas = plot.querySelector(".canvas");
    const svg = canvas.querySelector("svg");
    if (!svg || !svg.viewBox.baseVal.width) continue;
    const whole = svg.viewBox.baseVal;
    const [left, top, width, height] = [whole.x, whole.y, whole.width, whole.height];
    const said = plot.querySelector(".tools output");
    let view = { x: left, y: top, scale: 1 };
    const show = () => {
      const [w, h] = [width / view.scale, height / view.scale];
      view.x = Math.min(Math.max(view.x, left), left + width - w);
      view.y = Math.min(Math.max(view.y, top), top + height - h);
      svg.setAttribute("viewBox", [view.x, view.y, w, h].map((part) => +part.toFixed(2)).join(" "));
      canvas.classList.toggle("closer", view.scale > 1);
      said.textContent = Math.round(view.scale * 100) + " %";
    };
    // The point at the shares (u, v) of the canvas stays where it is.
    const zoom = (factor, u = 0.5, v = 0.5) => {
      const scale = Math.min(Math.max(view.scale * factor, 1), 20);
      view.x += u * (width / view.scale - width / scale);
      view.y += v * (height / view.scale - height / scale);
      view.scale = scale;
      show();
    };
    const move = (u, v) => {
      view.x += (u * width) / view.scale;
      view.y += (v * height) / view.scale;
      show();
    };
    const reset = () => {
      view = { x: left, y: top, scale: 1 };
      show();
    };
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "group");
    canvas.setAttribute("aria-labelledby", plot.id + "-title");
    canvas.title = "+ and - look closer and farther, 0 shows all, arrows move; or Ctrl and the wheel, and drag";
    const keys = {
      "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), 0: reset,
      ArrowLeft: () => move(-0.1, 0), ArrowRight: () => move(0.1, 0),
      ArrowUp: () => move(0, -0.1), ArrowDown: () => move(0, 0.1),
    };
    canvas.addEventListener("keydown", (event) => {
      const isArrow = event.key.startsWith("Arrow");
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      if (isArrow && view.scale === 1) return;
      event.preventDefault();
      keys[event.key]();
    });
    const share = (event) => {
      const box = svg.getBoundingClientRect();
      return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    };
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.25 : 0.8, ...share(event));
    }, { passive: false });
    let from = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (view.scale === 1 || event.button !== 0) return;
      from = share(event);
      canvas.setPointerCapture(event.pointerId);
      canvas.classList.add("dragged");
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!from) return;
      const to = share(event);
      move(from[0] - to[0], from[1] - to[1]);
      from = to;
    });
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, () => {
        from = null;
        canvas.classList.remove("dragged");
      });
    }
    const behind = plot.querySelector("details");
    const actions = {
      in: () => zoom(1.5), out: () => zoom(1 / 1.5), reset,
      table: (button) => {
        behind.open = !behind.open;
        button.setAttribute("aria-expanded", behind.open);
      },
    };
    for (const button of plot.querySelectorAll(".tools button")) {
      if (button.dataset.do === "table") {
        button.setAttribute("aria-expanded", "false");
        behind.addEventListener("toggle", () => button.setAttribute("aria-expanded", behind.open));
      }
      button.addEventListener("click", () => actions[button.dataset.do](button));
    }
  }
})();
