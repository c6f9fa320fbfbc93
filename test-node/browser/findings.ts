import type { Page } from 'playwright-core'
import { CONTRAST, findingsOf, injectAxe, ON_PHONE, RULES } from './axe.ts'
import { OPEN_DETAILS, removeHighlighting, UNNAMED_CONTROLS } from './page.ts'
import { DESKTOP, PHONE } from './viewports.ts'

// What is wrong with a page for its readers, on a desktop and on a phone, in light and dark.

/** Returns the findings on a desktop: of all rules, and of contrast in both color schemes. */
export async function findingsOnDesktop(page: Page): Promise<string[]> {
  const light = await findingsOf(page, RULES)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await findingsOf(page, CONTRAST)
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light, ...dark.map((finding) => `dark: ${finding}`)]
}

/**
 * Returns the findings of pages that `open` opens one after another in a page. All are measured on a phone and on a
 * desktop; axe checks one of two on each: what pages have in common is on several of them.
 */
export async function findingsOfPages(
  page: Page,
  addresses: readonly string[],
  open: (address: string) => Promise<void>,
): Promise<string[]> {
  const findings: string[] = []
  for (const [i, address] of addresses.entries()) {
    const note = (found: string) => findings.push(`${address}: ${found}`)
    const [first, last] = i % 2 === 0 ? [PHONE, DESKTOP] : [DESKTOP, PHONE]
    await page.setViewportSize(first)
    await open(address)
    await removeHighlighting(page)
    for (const { width, height } of [first, last]) {
      await page.setViewportSize({ width, height })
      const actual = await page.evaluate<number>(OPEN_DETAILS)
      if (actual > width) note(`is ${actual} pixels wide on a screen of ${width}`)
    }
    for (const field of await page.evaluate<string[]>(UNNAMED_CONTROLS))
      note(`${field} has no name`)
    await injectAxe(page)
    const found =
      last === DESKTOP ? await findingsOnDesktop(page) : await findingsOf(page, ON_PHONE)
    found.forEach(note)
  }
  return findings
}
