import type { Page } from 'playwright-core'
import { violationsOf } from './axe.ts'
import { LEAVE_TWO_ALIKE, LOW_CONTRAST, OPEN_DETAILS, UNNAMED_CONTROLS } from './page.ts'
import { DESKTOP, PHONE } from './viewports.ts'

// What is wrong with a page for its readers. The page that is asked about changes: it has to be opened again.

/** Returns the findings in the window that the page has: names, contrast (dark on a phone), and those of axe. */
export async function findingsOf(page: Page): Promise<string[]> {
  const isDark = page.viewportSize()?.width === PHONE.width
  await page.evaluate(OPEN_DETAILS)
  const unnamed = await page.evaluate<string[]>(UNNAMED_CONTROLS)
  if (isDark) await page.emulateMedia({ colorScheme: 'dark' })
  const low = await page.evaluate<string[]>(LOW_CONTRAST)
  if (isDark) await page.emulateMedia({ colorScheme: 'light' })
  await page.evaluate(LEAVE_TWO_ALIKE)
  return [
    ...unnamed.map((field) => `${field} has no name`),
    ...low.map((finding) => (isDark ? `dark: ${finding}` : finding)),
    ...(await violationsOf(page)),
  ]
}

/** Returns the windows of one page of many: it is opened in the first and checked in the last, and they take turns. */
export const windowsOf = (i: number) =>
  i % 2 === 0 ? ([PHONE, DESKTOP] as const) : ([DESKTOP, PHONE] as const)

/** Returns the findings of pages that `open` opens one after another in a page. */
export async function findingsOfPages(
  page: Page,
  addresses: readonly string[],
  open: (address: string) => Promise<void>,
): Promise<string[]> {
  const findings: string[] = []
  for (const [i, address] of addresses.entries()) {
    const note = (found: string) => findings.push(`${address}: ${found}`)
    for (const [k, viewport] of windowsOf(i).entries()) {
      await page.setViewportSize(viewport)
      if (k === 0) await open(address)
      const actual = await page.evaluate<number>(OPEN_DETAILS)
      if (actual > viewport.width) note(`is ${actual} pixels wide on a screen of ${viewport.width}`)
    }
    for (const finding of await findingsOf(page)) note(finding)
  }
  return findings
}
