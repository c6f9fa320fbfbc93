import type { Page } from 'playwright-core'

// Actions that run inside a page. They take a fraction of the time of Playwright's clicks. The
// expressions in strings do not need the script that Playwright loads into a page for its locators.

/** The time in milliseconds that a page has to show a chart. */
const ANSWER_TIMEOUT = 10_000

/** Waits until the script has drawn the charts of a page of the console, from tables that have rows. */
export const CHARTS_DRAWN = `
  for (const start = Date.now(); Date.now() - start < ${ANSWER_TIMEOUT}; ) {
    const figures = [...document.querySelectorAll('[data-chart]:has(tbody tr)')]
    if (figures.every((one) => one.querySelector('canvas'))) break
    await new Promise((done) => setTimeout(done, 5))
  }
`

/** Opens the visible `<details>` elements. The result is the width of the page. */
export const OPEN_DETAILS = `
  (() => {
    for (const one of [...document.querySelectorAll('details')].filter((one) => one.checkVisibility()))
      one.open = true
    return document.documentElement.scrollWidth
  })()
`

/**
 * Replaces highlighted code by its text. Only the contrast rule of axe depends on the spans, which are
 * a third of the elements of the reference.
 */
export const removeHighlighting = (page: Page) =>
  page.evaluate(`
    for (const code of document.querySelectorAll('pre code')) code.textContent = code.textContent
  `)

/** The fields, buttons and links of a page that nothing names: no text and no `aria-label`. */
export const UNNAMED_CONTROLS = `
  (() => {
    const textOf = ({ textContent }) => textContent.trim()
    const labels = [...document.querySelectorAll('label[for]')].filter(textOf)
    const labelled = new Set(labels.map(({ htmlFor }) => htmlFor))
    const isNamed = (element) =>
      element.ariaLabel ||
      element.ariaLabelledByElements?.length ||
      (element.matches('input, select, textarea')
        ? labelled.has(element.id) || element.closest('label')
        : textOf(element) || element.querySelector('img[alt]:not([alt=""])'))
    return [...document.querySelectorAll('input, select, textarea, button, a[href], summary')]
      .filter((element) => element.type !== 'hidden' && !isNamed(element))
      .map((element) => element.outerHTML.slice(0, 200))
  })()
`
