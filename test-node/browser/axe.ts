import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'
import { PHONE } from './viewports.ts'

// Checks of accessibility in a page. There are no frames.

/**
 * All rules that are on by default, and on a phone the target size of WCAG 2.2. `LOW_CONTRAST` stands for the rule of
 * contrast: both rules take most of the time.
 */
const rulesOf = (page: Page): RunOptions => ({
  rules: {
    'target-size': { enabled: page.viewportSize()?.width === PHONE.width },
    'color-contrast': { enabled: false },
  },
})

/** Chromium compiles it in half the time that `axe.source` takes. */
const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * Runs axe in a page, and returns the violations. The pages of an origin store axe: the protocol takes three times as
 * long as Chromium needs to compile it.
 */
export async function violationsOf(page: Page): Promise<string[]> {
  // Only rules for media and for the orientation of style sheets need what axe would preload.
  const run = JSON.stringify({ ...rulesOf(page), resultTypes: ['violations'], preload: false })
  const found = `
    (0, eval)(localStorage.axe)
    axe.run(${run}).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) =>
        nodes.map(({ target, html }) => id + ': ' + target.join(' ') + ' ' + html.slice(0, 200)),
      ),
    )
  `
  const isStored = await page.evaluate(`'axe' in localStorage`)
  if (!isStored) await page.evaluate(`localStorage.axe = ${JSON.stringify(SOURCE)}; true`)
  return page.evaluate<string[]>(found)
}
