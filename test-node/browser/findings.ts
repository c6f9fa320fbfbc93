import type { Page } from 'playwright-core'
import { CONTRAST, findingsOf, injectAxe, ON_PHONE, RULES, WITHOUT_CONTRAST } from './axe.ts'
import { dropKnownHighlighting, keepNewKinds, noteNewKinds } from './kinds.ts'
import { openDetails, removeHighlighting, unnamedControls } from './page.ts'
import { DESKTOP, PHONE } from './viewports.ts'

// What is wrong with a page for its readers, on a desktop and on a phone, in light and dark.

/**
 * Whether axe checks every page whole, for `npm run accessibility`. In `npm test` it checks what has a
 * kind of element that no earlier page has: generated pages repeat the same parts.
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

/** Opens what is closed, and returns whether the page scrolls sideways. */
async function widthFinding(page: Page, { width }: typeof DESKTOP): Promise<string[]> {
  const actual = await openDetails(page)
  return actual > width ? [`is ${actual} pixels wide on a screen of ${width}`] : []
}

/**
 * Returns the findings of the page that is open on a desktop, and leaves it on a phone. `known` has the
 * kinds of elements of earlier pages, and gets those of this page.
 */
export async function pageFindings(page: Page, known: Set<string>): Promise<string[]> {
  if (!IS_WHOLE) await dropKnownHighlighting(page, known)
  const found = await widthFinding(page, DESKTOP)
  if (!IS_WHOLE) await noteNewKinds(page, DESKTOP.width, known)
  // No script depends on the width, so the page need not be loaded again.
  await page.setViewportSize(PHONE)
  found.push(...(await widthFinding(page, PHONE)))
  if (!IS_WHOLE) await noteNewKinds(page, PHONE.width, known)
  const unnamed = await unnamedControls(page)
  found.push(...unnamed.map((field) => `${field} has no name`))
  if (!IS_WHOLE && !(await keepNewKinds(page))) return found
  await injectAxe(page)
  await page.setViewportSize(DESKTOP)
  found.push(...(await findingsOnDesktop(page)))
  await page.setViewportSize(PHONE)
  return [...found, ...(await findingsOnPhone(page))]
}
