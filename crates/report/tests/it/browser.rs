//! The page in a real browser: drawn, filtered, sorted, zoomed, in both themes.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use report::{PlotTable, html};

use crate::html::{Run, training_record};
use crate::records;

/// A page takes a second; a browser that hangs is ended.
const BROWSER_LIMIT: Duration = Duration::from_mins(1);

/// Says why a test does nothing here; in CI that is a failure.
#[expect(clippy::print_stdout, reason = "a skip is seen")]
fn skip(reason: &str) {
    assert!(std::env::var_os("CI").is_none(), "skipped in CI: {reason}");
    println!("skipped: {reason}");
}

/// What `script` said of `page` by `say(name, value)` when it was open; `None` where there is no browser.
fn driven(page: &str, script: &str, options: &[&str]) -> Option<BTreeMap<String, String>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    let driver = format!(
        "<script>\nconst said = [];\nconst say = (name, value) => said.push(name + '=' + value);\n\
         const one = (which) => document.querySelector(which);\nconst all = (which) => [...document.querySelectorAll(which)];\n\
         window.addEventListener('load', async () => {{\ntry {{\n{script}\n}} catch (error) {{ say('error', error); }}\n\
         const result = document.createElement('pre');\nresult.id = 'said';\nresult.textContent = said.join('\\n');\n\
         document.body.append(result);\n}});\n</script>\n</body>"
    );
    std::fs::write(&path, page.replace("</body>", &driver)).unwrap();
    let dom = dumped(&path, folder.path(), options)?;
    let said = dom
        .split("<pre id=\"said\">")
        .nth(1)
        .unwrap_or_else(|| panic!("the script did not end: {dom:.3000}"));
    let said = said.split("</pre>").next().unwrap();
    let said: BTreeMap<String, String> = said
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    assert_eq!(said.get("error"), None);
    Some(said)
}

/// The document after its scripts ran.
fn dumped(page: &Path, profile: &Path, options: &[&str]) -> Option<String> {
    let browser = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.join("profile").display()))
        .args(options)
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    match browser {
        Ok(mut browser) => {
            let (ended, end) = mpsc::channel();
            let mut stdout = browser.stdout.take().unwrap();
            std::thread::spawn(move || {
                let mut dom = Vec::new();
                let read = stdout.read_to_end(&mut dom).map(|_| dom);
                ended.send(read)
            });
            let dom = end.recv_timeout(BROWSER_LIMIT);
            // One that has ended is only waited for.
            let _ = browser.kill();
            browser.wait().unwrap();
            let dom = dom.expect("chromium did not end within its limit").expect("its output can be read");
            Some(String::from_utf8_lossy(&dom).into_owned())
        }
        Err(error) => {
            skip(&format!("chromium cannot be started: {error}"));
            None
        }
    }
}

fn run() -> Run {
    let mut run = Run::of(records::golden());
    run.plots[0].table = PlotTable { columns: vec!["curve".to_owned()], rows: vec![vec!["nvme".to_owned()]] };
    run
}

#[test]
fn cells_are_filtered_by_words_target_and_engine() {
    let script = "
        const [form, count] = [one('form.filter'), one('form.filter output')];
        const rows = () => all('#cells-table1 tbody tr');
        const shown = () => rows().filter((row) => row.getClientRects().length);
        say('all', shown().length === rows().length);
        say('targets', [...form.elements.target.options].map((option) => option.value).join());
        const set = (name, value) => {
            form.elements[name].value = value;
            form.dispatchEvent(new Event('input', { bubbles: true }));
        };
        set('words', 'NVME pread');
        say('words', shown().every((row) => row.textContent.includes('nvmepread')) && shown().length);
        say('count', count.textContent);
        set('words', '');
        set('target', 'filer');
        set('engine', 'io_uring');
        say('both', shown().map((row) => row.cells[0].textContent + row.cells[1].textContent).join());
        set('words', 'no such words');
        say('none', shown().length + ' ' + count.textContent);
        form.reset();
        await new Promise((done) => setTimeout(done));
        say('reset', shown().length === rows().length);
    ";
    let Some(said) = driven(&html(&[run().page()]), script, &[]) else { return };
    assert_eq!(said["all"], "true");
    assert_eq!(said["targets"], ",nvme,filer,array,null,tree");
    assert_eq!(said["words"], "3");
    assert_eq!(said["count"], "3 of 24 rows");
    // The row of fresh rounds comes with its cell.
    let [cell, fresh] = ["filerio_uring", "filer&gt; fresh"];
    assert_eq!(said["both"], [cell, cell, cell, fresh, cell].join(","));
    assert_eq!(said["none"], "0 0 of 24 rows");
    assert_eq!(said["reset"], "true");
}

#[test]
fn a_heading_sorts_its_figures_up_down_and_back() {
    let script = "
        const heading = all('#cells-table1 thead th').find((th) => th.textContent === 'of line');
        const column = heading.cellIndex;
        const figures = () => all('#cells-table1 tbody tr').map((row) => parseFloat(row.cells[column].textContent.replaceAll(',', '')));
        const before = figures().join();
        const press = () => { heading.querySelector('button').focus(); document.activeElement.click(); };
        const known = () => figures().filter((value) => !Number.isNaN(value));
        press();
        say('up', heading.getAttribute('aria-sort') + ' ' + known().every((value, at, all) => at === 0 || all[at - 1] <= value));
        say('last', Number.isNaN(figures().at(-1)));
        press();
        say('down', heading.getAttribute('aria-sort') + ' ' + known().every((value, at, all) => at === 0 || all[at - 1] >= value));
        press();
        say('back', heading.getAttribute('aria-sort') + ' ' + (figures().join() === before));
    ";
    let Some(said) = driven(&html(&[run().page()]), script, &[]) else { return };
    assert_eq!(said["up"], "ascending true");
    assert_eq!(said["last"], "true");
    assert_eq!(said["down"], "descending true");
    assert_eq!(said["back"], "null true");
}

#[test]
fn a_plot_is_looked_at_closer_by_button_key_wheel_and_drag() {
    let script = "
        const plot = one('figure.plot');
        const [svg, canvas] = [plot.querySelector('svg'), plot.querySelector('.canvas')];
        const view = () => svg.getAttribute('viewBox').split(' ').map(Number);
        const whole = svg.getAttribute('viewBox');
        say('drawn', svg.getBoundingClientRect().height > 100);
        plot.querySelector('[data-do=in]').click();
        say('in', Math.abs(view()[2] * 1.5 - Number(whole.split(' ')[2])) < 0.1 && view()[0] > 0);
        say('said', plot.querySelector('output').textContent);
        const press = (key) => { canvas.focus(); canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })); };
        const left = view()[0];
        press('ArrowRight');
        say('right', view()[0] > left);
        const box = canvas.getBoundingClientRect();
        const at = (type, x) => canvas.dispatchEvent(new PointerEvent(type, { clientX: box.left + x, clientY: box.top + 50, pointerId: 1, bubbles: true }));
        const before = view()[0];
        canvas.setPointerCapture = () => {};
        at('pointerdown', 200); at('pointermove', 260); at('pointerup', 260);
        say('drag', view()[0] < before);
        press('0');
        say('whole', svg.getAttribute('viewBox') === whole);
        press('ArrowRight');
        say('edge', svg.getAttribute('viewBox') === whole);
        const wheel = (ctrlKey) => canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: -1, ctrlKey, clientX: box.left + 5, clientY: box.top + 5, bubbles: true, cancelable: true }));
        say('scrolls', wheel(false) && svg.getAttribute('viewBox') === whole);
        say('wheel', !wheel(true) && view()[2] < Number(whole.split(' ')[2]));
        const table = plot.querySelector('[data-do=table]');
        table.click();
        await new Promise((done) => setTimeout(done, 50));
        say('table', plot.querySelector('details').open + ' ' + table.getAttribute('aria-expanded'));
    ";
    let Some(said) = driven(&html(&[run().page()]), script, &[]) else { return };
    assert_eq!(said["said"], "150 %");
    assert_eq!(said["table"], "true true");
    for what in ["drawn", "in", "right", "drag", "whole", "edge", "scrolls", "wheel"] {
        assert_eq!(said[what], "true", "{what}");
    }
}

#[test]
fn the_theme_follows_the_system_until_another_is_chosen() {
    let script = "
        const paper = () => getComputedStyle(document.body).backgroundColor;
        const drawn = () => getComputedStyle(one('svg.feedline-plot')).getPropertyValue('--fl-paper').trim();
        say('system', paper() + ' ' + drawn());
        one('#theme').click();
        say('dark', paper() + ' ' + drawn() + ' ' + one('#theme').textContent);
        one('#theme').click();
        say('light', paper() + ' ' + drawn() + ' ' + one('#theme').textContent);
        one('#theme').click();
        say('again', paper() + ' ' + drawn());
    ";
    let page = html(&[run().page()]);
    let (light, dark) = ("rgb(255, 255, 255) #ffffff", "rgb(13, 17, 23) #0d1117");
    for (setting, system) in [("1", light), ("0", dark)] {
        let option = format!("--blink-settings=preferredColorScheme={setting}");
        let Some(said) = driven(&page, script, &[&option]) else { return };
        assert_eq!(said["system"], system);
        assert_eq!(said["dark"], format!("{dark} theme: dark"));
        assert_eq!(said["light"], format!("{light} theme: light"));
        assert_eq!(said["again"], system);
    }
}

#[test]
fn nothing_is_wider_than_a_window_and_tools_wait_for_scripts() {
    let script = "
        const drawn = all('figure.plot svg').filter((svg) => svg.getClientRects().length);
        say('plots', drawn.length === all('figure.plot').length);
        say('narrow', drawn.every((svg) => svg.closest('.narrow')));
        const isWithin = (svg) => [...svg.querySelectorAll('text')].every((text) => {
            const [of, box] = [svg.getBoundingClientRect(), text.getBoundingClientRect()];
            return of.right <= window.innerWidth && box.left >= of.left && box.right <= of.right;
        });
        say('labels', drawn.every(isWithin));
        say('width', document.documentElement.scrollWidth <= window.innerWidth);
        all('details').forEach((part) => { part.open = true; });
        const tools = () => all('.js').filter((tool) => !tool.matches('.tools') || !window.matchMedia('(max-width:40rem)').matches);
        say('tools', tools().every((tool) => getComputedStyle(tool).display !== 'none'));
        document.documentElement.classList.remove('has-js');
        say('static', all('.js').every((tool) => getComputedStyle(tool).display === 'none'));
    ";
    let (one, two) = (run(), Run::of(training_record()));
    for page in [html(&[one.page()]), html(&[one.page(), two.page()])] {
        for (window, is_narrow) in [("400,800", "true"), ("1280,800", "false")] {
            let Some(said) = driven(&page, script, &[&format!("--window-size={window}")]) else { return };
            for what in ["plots", "labels", "width", "tools", "static"] {
                assert_eq!(said[what], "true", "{what} at {window}");
            }
            assert_eq!(said["narrow"], is_narrow);
        }
    }
}

#[test]
fn a_link_to_a_folded_part_opens_it() {
    let script = "
        const part = one('#environment').closest('details');
        say('before', part.open);
        one('nav a[href=\"#environment\"]').click();
        await new Promise((done) => setTimeout(done, 50));
        say('after', part.open);
    ";
    let Some(said) = driven(&html(&[run().page()]), script, &[]) else { return };
    assert_eq!((said["before"].as_str(), said["after"].as_str()), ("false", "true"));
}
