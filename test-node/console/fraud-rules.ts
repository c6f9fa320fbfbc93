import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { skip } from '../browser/chromium.ts'
import { PHONE } from '../browser/viewports.ts'
import { openSignedIn, type Shared } from './frame.ts'

// What a manager does with fraud rules.

const RULES = '/console/accounts/demo-broker/fraud-rules'

/** The text of a back-test of the last days. */
const TESTED = /From .+ to .+ it would have opened (?:no case|\d+ cases?)/

const isTooWide = (page: Page) => page.evaluate('document.documentElement.scrollWidth > innerWidth')

/** Defines the tests of the pages of fraud rules. */
export function fraudRuleTests(shared: () => Shared): void {
  test('a second rule is written, tested and saved on a narrow phone', { skip }, async () => {
    const { page } = shared()
    await openSignedIn(shared(), RULES, PHONE)
    assert.equal(await isTooWide(page), false)
    await page.locator('.templates').getByRole('link', { name: 'Deposits at the minimum' }).click()
    await page.getByText(TESTED).waitFor()
    assert.equal(await isTooWide(page), false)

    await page.getByLabel('Fewest customers who qualified').fill('0')
    await page.getByRole('button', { name: 'Show in words and test' }).click()
    await page.getByRole('alert').waitFor()

    await page.getByLabel('Fewest customers who qualified').fill('3')
    await page.getByLabel('Name', { exact: true }).fill('A few minimum deposits')
    await page.getByRole('button', { name: 'Show in words and test' }).click()
    await page.getByText('60 % of at least 3 customers who qualified in 30 days').waitFor()
    await page.getByText(TESTED).waitFor()
    await page.getByRole('button', { name: 'Add the rule' }).click()
    assert.match(await page.getByRole('status').innerText(), /^Version 1 is saved\./)
    assert.equal(await page.locator('h1').innerText(), 'A few minimum deposits')
    assert.equal(await isTooWide(page), false)
  })
}
