# SPDX-License-Identifier: Apache-2.0
"""Opens the built site in headless Chromium, at the width of a telephone and of a desktop.

    check_browser.py SITE SCREENSHOTS

Reports a page that is wider than its window, an error on the console, a diagram that was not drawn, and
a search that finds nothing. Chromium reaches this server and no other host, so a resource of another
host is an error on the console. SCREENSHOTS gets pictures of the main pages.
"""
import functools
import http.server
import os
import pathlib
import sys
import threading

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

WIDTHS = {390: 844, 1280: 900}
MAIN_PAGES = ["", "docs/which-plugin/", "docs/execcred-token-file/", "docs/execcred-static-secret/",
              "docs/options/", "docs/execcred/", "docs/troubleshooting/", "docs/library/",
              "docs/benchmarks/", "ARCHITECTURE/", "SECURITY/", "config/spiffe/"]
SECONDS = 20


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def serve(site):
    handler = functools.partial(Handler, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def start_chromium():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    arguments = ["--headless=new", "--no-proxy-server", "--hide-scrollbars", "--disable-dev-shm-usage",
                 "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")  # Chromium refuses to run as root with it.
    for argument in arguments:
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


def set_window(browser, width, height):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})


def draws_diagrams(browser):
    """Whether Mermaid has replaced the text of each diagram with a drawing."""
    return browser.execute_script(
        "return !document.querySelector('pre.mermaid') &&"
        " [...document.querySelectorAll('.mermaid')].every(one => one.offsetHeight > 20)")


def finds(browser, words):
    """Whether the search of the open page finds the words."""
    browser.execute_script("document.querySelector('[data-md-toggle=search]').click()")
    browser.find_element(By.CSS_SELECTOR, "input.md-search__input").send_keys(words)
    selector = "a.md-search-result__link"
    return WebDriverWait(browser, SECONDS).until(lambda b: b.find_elements(By.CSS_SELECTOR, selector))


def widths(browser):
    """The widths of the page and of its window."""
    return browser.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")


def fits(browser):
    page, window = widths(browser)
    return page <= window


def problems_of(browser):
    """The problems of the open page."""
    problems = []
    try:
        WebDriverWait(browser, SECONDS).until(draws_diagrams)
    except TimeoutException:
        problems.append("a diagram was not drawn")
    # After a change of the width the theme moves some parts slowly.
    try:
        WebDriverWait(browser, SECONDS).until(fits)
    except TimeoutException:
        problems.append("is {} pixels wide in a window of {}".format(*widths(browser)))
    problems += [f"console: {entry['message']}" for entry in browser.get_log("browser")
                 if entry["level"] in ("SEVERE", "WARNING")]
    return problems


def main(site, screenshots):
    folders = sorted(path.parent.relative_to(site).as_posix() for path in site.rglob("index.html"))
    pages = ["" if folder == "." else folder + "/" for folder in folders]
    address, count = serve(site), 0
    screenshots.mkdir(parents=True, exist_ok=True)
    browser = start_chromium()
    try:
        for page in pages:
            browser.get(address + page)
            for width, height in WIDTHS.items():
                set_window(browser, width, height)
                for problem in problems_of(browser):
                    count += 1
                    print(f"/{page} at {width}: {problem}")
                if page in MAIN_PAGES:
                    name = page.strip("/").replace("/", "-") or "index"
                    browser.save_screenshot(str(screenshots / f"{name}-{width}.png"))
        browser.get(address)
        finds(browser, "allow-server")
    finally:
        browser.quit()
    missing = [page for page in MAIN_PAGES if page not in pages]
    for page in missing:
        print(f"/{page}: no such page")
    count += len(missing)
    print(f"{len(pages)} pages at {len(WIDTHS)} widths, {count} problems")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])))
