import assert from 'node:assert/strict'
import { test } from 'node:test'
import { skip } from '../browser/chromium.ts'
import { DESKTOP, PHONE } from '../browser/viewports.ts'
import { call, demoCase, PLANTED } from './demo-case.ts'
import { openSignedIn, type Shared } from './frame.ts'

const AT = '/console/accounts/demo-broker'
const RULE = 'fraud-rules/minimum-deposit'

/** Adds a rule that finds the planted case, too, and holds payouts from its day on. Returns the id of its case. */
async function holdPlanted(shared: Shared): Promise<string> {
  const { opened_for } = await demoCase(shared)
  const { versions } = await call<{ versions: { terms: object }[] }>(shared, 'GET', RULE)
  const terms = versions.at(-1)?.terms
  const holding = { ...terms, action: 'hold', effective_from: opened_for }
  await call(shared, 'PUT', `${RULE}-held`, holding)
  const { case_id } = await demoCase(shared, PLANTED, 'minimum-deposit-held')
  return case_id
}

/** Defines the tests of the fraud review. */
export function caseTests(shared: () => Shared): void {
  const main = () => shared().page.locator('main')
  const decide = async (decision: string, reason: string) => {
    await main().getByLabel('Decision', { exact: true }).selectOption(decision)
    await main().getByLabel('Reason', { exact: true }).fill(reason)
    await main().getByRole('button', { name: 'Record the decision' }).click()
    assert.match(await shared().page.getByRole('status').first().innerText(), /The case is decided/)
  }

  test('an approver finds the planted case, follows a record to its delivery, refuses a customer and releases the payout', {
    skip,
  }, async () => {
    const { page, base } = shared()
    const held = await holdPlanted(shared())
    await openSignedIn(shared(), '/console', DESKTOP)
    await main().getByRole('link', { name: 'Demo Broker' }).click()
    await page.locator('.side').getByRole('link', { name: 'Payouts', exact: true }).click()
    const payout = () => main().getByRole('row').filter({ hasText: PLANTED })
    assert.equal(await payout().getByRole('checkbox').count(), 0)

    await page.locator('.side').getByRole('link', { name: 'Cases', exact: true }).click()
    await main().getByRole('button', { name: 'Evaluate now' }).click()
    assert.match(await page.getByRole('status').first().innerText(), /0 cases opened/)
    await main().locator(`a[href$="/cases/${held}"]`).first().click()
    await page.getByRole('heading', { name: `Case of Starter Deposits (${PLANTED})` }).waitFor()
    const figures = main().getByRole('table', { name: 'What was compared' })
    assert.match(await figures.innerText(), /Share at the minimum\s+100 %\s+at least 60 %/)
    const record = main().getByRole('table', { name: 'Records, by day' }).getByRole('row').nth(1)
    const customer = await record.getByRole('cell').nth(1).innerText()
    const delivery = await record.getByRole('link', { name: 'Delivery' }).getAttribute('href')
    assert.equal((await page.context().request.get(`${base}${delivery}`)).status(), 200)

    await main().getByLabel(`Refuse ${customer}`).check()
    await decide('confirmed', 'One device for all of them')
    const decisions = main().getByRole('list', { name: 'Decisions' })
    assert.match(
      await decisions.innerText(),
      /The root key confirmed the case: “One device for all of them”/,
    )
    await decisions.getByRole('link', { name: customer }).click()
    await main()
      .getByText(/^Refused: Confirmed case|^Refused/)
      .first()
      .waitFor()
    await openSignedIn(shared(), `${AT}/payouts`, DESKTOP)
    assert.equal(await payout().getByRole('checkbox').count(), 1)
  })

  test('a case is dismissed on a phone, and leaves the list', { skip }, async () => {
    const { page } = shared()
    await demoCase(shared())
    await openSignedIn(shared(), `${AT}/cases`, PHONE)
    await main()
      .getByRole('link', { name: /^Quick Leads \(FAST-1\): 12 of 12 signups/ })
      .click()
    await decide('dismissed', 'A form that fills itself in')
    const isWider = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
    assert.equal(isWider, false)
    await openSignedIn(shared(), `${AT}/cases`, PHONE)
    assert.equal(
      await main()
        .getByRole('link', { name: /^Quick Leads/ })
        .count(),
      0,
    )
  })
}
