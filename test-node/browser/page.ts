import type { Locator, Page } from 'playwright-core'

// Actions that run inside a page. They take a fraction of the time of Playwright's clicks. The
// expressions in strings do not need the script that Playwright loads into a page for its locators.

/** Opens the visible `<details>` elements that match a selector. */
export const openDetails = (page: Page, selector: string) =>
  page.evaluate(`
    const all = [...document.querySelectorAll(${JSON.stringify(selector)})]
    for (const one of all.filter((one) => one.checkVisibility())) one.open = true
  `)

/**
 * Replaces highlighted code by its text. Only the contrast rule of axe depends on the spans, which are
 * a third of the elements of the reference.
 */
export const removeHighlighting = (page: Page) =>
  page.evaluate(`
    for (const code of document.querySelectorAll('pre code')) code.textContent = code.textContent
  `)

/** Removes four of five operations, which one function renders. */
export const dropRepeatedSections = (page: Page) =>
  page.evaluate(`
    const sections = document.querySelectorAll('section.operation')
    sections.forEach((section, i) => i % 5 > 0 && section.remove())
  `)

/** The time in milliseconds that a form has to show a response. */
const ANSWER_TIMEOUT = 10_000

/**
 * Opens the form of an operation, fills fields in, sends it and returns the shown response. Does not
 * scroll, so it does not check whether a reader can reach the form with a mouse.
 */
export const trySample = (section: Locator, fields: Record<string, string>): Promise<string> =>
  section.locator('.try').evaluate(
    async (details, { fields, timeout }) => {
      const form = details.querySelector('form')
      const answer = form.querySelector('.answer')
      const opened = new Promise((done) => details.addEventListener('toggle', done, { once: true }))
      details.open = true
      await opened
      for (const [name, value] of Object.entries(fields)) form.elements[name].value = value
      if (!form.checkValidity()) return 'The form is incomplete.'
      form.querySelector('[type="submit"]').click()
      for (const start = Date.now(); answer.childElementCount === 0; ) {
        if (Date.now() - start > timeout) return 'The form shows no response.'
        await new Promise((done) => setTimeout(done, 5))
      }
      return answer.textContent
    },
    { fields, timeout: ANSWER_TIMEOUT },
  )
