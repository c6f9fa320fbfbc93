import assert from 'node:assert/strict'
import { test } from 'node:test'
import { skip } from '../browser/chromium.ts'
import { openSignedIn, type Shared } from './frame.ts'

const FOREX = '/console/accounts/demo-forex'
const PERIOD = '2026-03'

/** Defines the tests of affiliates, plans and statements. */
export function moneyTests(shared: () => Shared): void {
  const main = () => shared().page.locator('main')
  const link = (name: string | RegExp) => main().getByRole('link', { name, exact: true })
  const rowOf = (table: RegExp, name: string) =>
    main().getByRole('table', { name: table }).getByRole('row').filter({ hasText: name })

  test('the next version of a plan stands beside the first', { skip }, async () => {
    const { page } = shared()
    await openSignedIn(shared(), `${FOREX}/plans/demo-ib?edit=next`)
    await page.getByLabel('From', { exact: true }).first().fill('9998-01-01')
    await page.getByLabel('Days until it is payable').fill('20')
    await page.getByRole('button', { name: 'Save this version' }).click()
    assert.match(
      await page.getByRole('status').innerText(),
      /Version 2 is saved. It applies from 1 Jan 9998/,
    )
    assert.deepEqual(await page.locator('main ins').allInnerTexts(), [
      'It is payable 20 days after the month ends.',
    ])
    assert.deepEqual(await page.locator('main del').allInnerTexts(), [
      'It is payable 14 days after the month ends.',
    ])
    await page.getByText('Withdraw a version').first().click()
    await page.getByRole('button', { name: 'Withdraw a version' }).click()
    assert.match(await page.getByRole('status').innerText(), /withdrawn/)
  })

  test('the form shows the fields of the form that is chosen, and a condition', {
    skip,
  }, async () => {
    const { page } = shared()
    await openSignedIn(shared(), `${FOREX}/plans?new=cpa`)
    const least = page.getByLabel('Smallest amount')
    assert.ok(await least.isVisible())
    await page.getByRole('button', { name: 'Signs up' }).click()
    await least.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Makes a first transaction' }).click()
    await least.waitFor()
    await page.getByRole('group', { name: 'When a customer' }).getByLabel('Deposit').check()
    const only = page.getByRole('group', { name: 'Only for' }).last()
    await only.locator('summary', { hasText: 'More' }).click()
    await only.getByLabel('Countries', { exact: true }).fill('AT')
    await page.getByRole('button', { name: 'Show in words and figures' }).click()
    await page.locator('.in-words', { hasText: 'Austria' }).waitFor()
  })

  test('a manager follows a number to its record and the delivery', { skip }, async () => {
    const { page, base } = shared()
    await openSignedIn(shared(), `${FOREX}/statements?period=${PERIOD}`)
    await link(/\(IB-07\)$/)
      .first()
      .click()
    const rule = page.locator('.rule-lines').filter({ hasText: /^30 % of spread/ })
    await rule.locator('summary').click()
    await link('102.00 EUR').click()
    assert.equal(await page.locator('h1').innerText(), 'Why 102.00 EUR')
    assert.match(
      await page.locator('.sentences').innerText(),
      /30 % of 340\.00 EUR is 102\.00 EUR\./,
    )
    assert.match(
      await page.locator('main').innerText(),
      /The rule “spread” of Standard IB\s+30 % of spread/,
    )
    await rowOf(/^Customers of the line/, 'C-3301')
      .getByRole('link', { name: '1', exact: true })
      .click()
    const records = page.getByRole('table', { name: /^Records of C-3301/ })
    const delivery = records.getByRole('link', { name: 'Delivery' }).first()
    const href = (await delivery.getAttribute('href')) ?? ''
    assert.match(href, new RegExp(`^${FOREX}/deliveries/[\\w-]+$`))
    // The delivery exists in the administration API.
    const response = await fetch(base + href.replace('/console', '/admin/v1'), {
      headers: { Authorization: `Bearer ${shared().key}` },
    })
    assert.equal(response.status, 200)
  })

  test('what earned nothing leads from its reason to its records', { skip }, async () => {
    const { page } = shared()
    await openSignedIn(shared(), `${FOREX}/unearned?period=${PERIOD}`)
    await rowOf(/^What earned nothing/, 'The sender says that it is pending.')
      .getByRole('link', { name: '1 deposit' })
      .click()
    const records = page.getByRole('table', { name: 'Records that earned nothing' })
    assert.match(await records.innerText(), /T-3307[\s\S]*pending[\s\S]*500\.00 EUR[\s\S]*C-3302/)
  })

  test('an approver checks and approves a period, and pays a statement', { skip }, async () => {
    const { page, base } = shared()
    await openSignedIn(shared(), `${FOREX}/statements?period=${PERIOD}`)
    await page.getByRole('button', { name: 'Compute the drafts of March 2026' }).click()
    await page.waitForURL(/[?&]run=/)
    await page.getByText('The drafts of March 2026 are computed for').waitFor()
    const sums = page.getByRole('table', { name: 'Sums of the statements' })
    assert.match(await sums.innerText(), /Draft[\s\S]+\s901\.20 EUR\s+3 statements/)
    await link('Approve all that can be approved').click()
    assert.equal(await page.locator('h1').innerText(), 'Approve March 2026')
    assert.match(
      await page.locator('.lead').innerText(),
      /^3 drafts of March 2026 earned 907\.20 EUR\. Payable: 901\.20 EUR\./,
    )
    assert.match(
      await rowOf(/^The largest changes against February 2026/, 'IB-07').innerText(),
      /829\.20 EUR[\s\S]*Standard IB/,
    )
    await page.getByRole('button', { name: 'Approve all that can be approved' }).click()
    const outcome = await page.locator('div.notice.warn').innerText()
    assert.match(
      outcome,
      /^1 statement was not approved\.[\s\S]*2 statements of March 2026 are approved\./,
    )
    assert.match(outcome, /IB-09\), Standard IB[\s\S]*waits for a rate or a currency/)
    assert.match(outcome, /The period is closed, except for 1 affiliate with a draft\./)
    assert.match(outcome, /“Approve without them; an adjustment pays them later”/)
    assert.doesNotMatch(outcome, /leave_out_holds|`/)
    await page.locator('div.notice.warn').getByRole('link', { name: 'IB-09' }).click()
    await page
      .getByLabel('Records that wait for a rate or a currency', { exact: true })
      .selectOption('yes')
    await page.getByRole('button', { name: /^Approve \d/ }).click()
    assert.match(await page.getByRole('status').innerText(), /approval was recorded/)
    await page.goto(`${base}${FOREX}/payouts`)
    const tick = (id: string) => rowOf(/^What has to be paid/, id).getByRole('checkbox')
    assert.match(await rowOf(/^What has to be paid/, 'IB-08').innerText(), /No bank details/)
    // Nobody has entered bank details, so nothing is ticked: it is paid by hand.
    assert.equal(await tick('IB-08').isChecked(), false)
    await tick('IB-08').check()
    assert.match(await page.locator('.ticked').innerText(), /Ticked: 1 for 72\.00 EUR/)
    await page.getByText('Paid by hand?').click()
    await page.getByLabel('Why by hand').fill('In cash')
    await page.getByRole('button', { name: 'Prepare a batch' }).click()
    await page.getByRole('button', { name: 'Confirm 72.00 EUR' }).click()
    await page.getByLabel('Day of the payment').fill('2026-04-30')
    await page.getByRole('button', { name: 'Mark it as paid' }).click()
    assert.match(await page.getByRole('status').innerText(), /booked as paid/)
    await page.goto(`${base}${FOREX}/payouts`)
    assert.equal(await rowOf(/^What has to be paid/, 'IB-07').count(), 1)
    assert.equal(await rowOf(/^What has to be paid/, 'IB-08').count(), 0)
    await link(/IB-07/).first().click()
    assert.match(await page.locator('main').innerText(), /Balance\s+829\.20 EUR/)
    await link('Ledger').click()
    const booked = rowOf(/^What was booked/, 'Earned for March 2026')
    assert.match(await booked.innerText(), /829\.20 EUR/)
  })
}
