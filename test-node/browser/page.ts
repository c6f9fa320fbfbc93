import type { Locator, Page } from 'playwright-core'

// Changes to a page that Playwright's clicks would make more slowly. The expressions in strings need
// none of the scripts that Playwright loads into a page for its locators.

/** Opens all forms and samples, and the menu on a phone. */
export const openAll = (page: Page) =>
  page.evaluate(`
    const visible = [...document.querySelectorAll('details')].filter((one) => one.checkVisibility())
    for (const details of visible) details.open = true
  `)

/**
 * Replaces highlighted code by its text. The spans have no semantics, so that only the contrast
 * rule of axe needs them; in the reference they are a third of all elements.
 */
export const removeHighlighting = (page: Page) =>
  page.evaluate(`
    for (const code of document.querySelectorAll('pre code')) code.textContent = code.textContent
  `)

/** Removes four of five operations. One function renders all of them. */
export const dropRepeatedSections = (page: Page) =>
  page.evaluate(`
    const sections = document.querySelectorAll('section.operation')
    sections.forEach((section, i) => i % 5 > 0 && section.remove())
  `)

/** The time in milliseconds after which a form counts as unanswered. */
const PATIENCE = 10_000

/**
 * Opens the form of an operation, fills fields in, sends it and returns the shown response. The
 * page does this by itself, which takes a fraction of the time of Playwright's clicks.
 */
export const trySample = (section: Locator, fields: Record<string, string>): Promise<string> =>
  section.locator('.try').evaluate(
    async (details, { fields, patience }) => {
      const form = details.querySelector('form')
      const answer = form.querySelector('.answer')
      const opened = new Promise((done) => details.addEventListener('toggle', done, { once: true }))
      details.open = true
      await opened
      for (const [name, value] of Object.entries(fields)) form.elements[name].value = value
      if (!form.checkValidity()) return 'The form is incomplete.'
      form.querySelector('[type="submit"]').click()
      for (const start = Date.now(); answer.childElementCount === 0; ) {
        if (Date.now() - start > patience) return 'The form shows no response.'
        await new Promise((done) => setTimeout(done, 5))
      }
      return answer.textContent
    },
    { fields, patience: PATIENCE },
  )
