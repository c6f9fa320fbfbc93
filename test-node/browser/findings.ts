import type { Page } from 'playwright-core'
import { CONTRAST, findingsOf, injectAxe, ON_PHONE, RULES, WITHOUT_CONTRAST } from './axe.ts'
import {
  addParts,
  DROP_KNOWN_HIGHLIGHTING,
  emptyFrame,
  KEEP_NEW_KINDS,
  keepUnknown,
  noteNewKinds,
  type Part,
} from './kinds.ts'
import { CHARTS_DRAWN, OPEN_DETAILS, removeHighlighting, UNNAMED_CONTROLS } from './page.ts'
import { DESKTOP, PHONE } from './viewports.ts'

// What is wrong with a page for its readers, on a desktop and on a phone, in light and dark.

/**
 * Whether axe checks every page whole, with `ACCESSIBILITY=whole`. In `npm test` axe checks an element
 * only if its kind (see kinds.ts) is new: no page before has shown it. It checks the new elements of
 * all pages in one page, because axe takes as long for one element as for twenty. A page is checked
 * alone if it has a new element outside of `<main>`. Rules for a page as a whole, such as its landmarks,
 * see only the pages that are checked alone.
 */
const IS_WHOLE = process.env.ACCESSIBILITY === 'whole'

/** Returns the findings on a desktop: of all rules, and of contrast in both color schemes. */
export async function findingsOnDesktop(page: Page): Promise<string[]> {
  const light = await findingsOf(page, RULES)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await findingsOf(page, CONTRAST)
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light, ...dark.map((finding) => `dark: ${finding}`)]
}

/** Returns the findings on a phone. Contrast does not depend on the width. */
async function findingsOnPhone(page: Page): Promise<string[]> {
  if (IS_WHOLE) await removeHighlighting(page)
  const findings = await findingsOf(page, IS_WHOLE ? WITHOUT_CONTRAST : ON_PHONE)
  return findings.map((finding) => `phone: ${finding}`)
}

const widthFindings = (actual: number, { width }: typeof DESKTOP) =>
  actual > width ? [`is ${actual} pixels wide on a screen of ${width}`] : []

/** Returns the findings of axe on a desktop and on a phone, and leaves the page on a phone. */
async function axeFindings(page: Page): Promise<string[]> {
  await injectAxe(page)
  await page.setViewportSize(DESKTOP)
  const found = await findingsOnDesktop(page)
  await page.setViewportSize(PHONE)
  return [...found, ...(await findingsOnPhone(page))]
}

/** Returns the findings of pages that `open` opens one after another in a page. */
export async function findingsOfPages(
  page: Page,
  addresses: readonly string[],
  open: (address: string) => Promise<void>,
): Promise<string[]> {
  const findings: string[] = []
  const parts: Part[] = []
  for (const address of addresses) {
    await page.setViewportSize(PHONE)
    await open(address)
    const { found, part } = await checkPage(page)
    if (part?.html) parts.push({ ...part, address, html: part.html })
    else if (part) found.push(...(await axeFindings(page)))
    findings.push(...found.map((finding) => `${address}: ${finding}`))
  }
  const frames = Map.groupBy(parts, ({ frame }) => frame)
  for (const together of frames.values()) {
    await open(together.at(-1)!.address)
    await emptyFrame(page)
    await addParts(page, together)
    findings.push(...(await axeFindings(page)))
  }
  return findings
}

/**
 * Returns what is wrong with the page that is open on a phone, without axe, and leaves it on a desktop.
 * `part` has the elements that axe has to check: null if there are none, with `html: null` if axe has to
 * check this page alone. Chromium takes a second to lay out a page of a megabyte. So only `npm run
 * accessibility` measures the whole page on a desktop; `npm test` measures what can be new there.
 */
async function checkPage(page: Page) {
  const { narrow, unnamed } = await page.evaluate<{ narrow: number; unnamed: string[] }>(`
    (async () => {
      ${CHARTS_DRAWN}
      if (!${IS_WHOLE}) ${DROP_KNOWN_HIGHLIGHTING}
      const narrow = ${OPEN_DETAILS}
      const unnamed = ${UNNAMED_CONTROLS}
      if (!${IS_WHOLE}) {
        ${noteNewKinds(PHONE)}
        ${keepUnknown(DESKTOP)}
      }
      return { narrow, unnamed }
    })()
  `)
  // No script depends on the width, so the page need not be loaded again.
  await page.setViewportSize(DESKTOP)
  const { wide, part } = await page.evaluate<{
    wide: number
    part: { html: string | null; frame: string } | null
  }>(`
    (() => {
      const wide = ${OPEN_DETAILS}
      if (${IS_WHOLE}) return { wide, part: { html: null, frame: '' } }
      ${noteNewKinds(DESKTOP)}
      return { wide, part: ${KEEP_NEW_KINDS} }
    })()
  `)
  const found = [
    ...widthFindings(narrow, PHONE),
    ...widthFindings(wide, DESKTOP),
    ...unnamed.map((field) => `${field} has no name`),
  ]
  return { found, part }
}
