import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
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

  test('a manager sees which affiliates change under a new plan', { skip }, async () => {
    const { page, base } = shared()
    await openSignedIn(shared(), `${FOREX}/plans`)
    await link('demo-ib').first().click()
    await link('Simulate version 1').click()
    const terms = page.getByLabel('Terms as JSON')
    const changed = (await terms.inputValue()).replace('"percent": "30"', '"percent": "35"')
    await terms.fill(changed.replace('"currency": "EUR"', '"currency": EUR'))
    await page.getByLabel('Period', { exact: true }).fill(PERIOD)
    await page.getByRole('button', { name: 'Apply' }).click()
    assert.match(await page.getByRole('alert').innerText(), /not valid JSON[\s\S]*terms/)
    await terms.fill(changed.replace('"percent": "35"', '"percentage": "35"'))
    await page.getByRole('button', { name: 'Apply' }).click()
    assert.match(await page.getByRole('alert').innerText(), /version › rules › 3 › percent/)
    await terms.fill(changed)
    await page.getByRole('button', { name: 'Apply' }).click()
    const row = rowOf(/^Affiliates whose commission changes/, 'IB-07')
    // The page is shown before the result is computed.
    await row.waitFor()
    const cells = await row.getByRole('cell').allInnerTexts()
    // 5 % more of a base of 340 EUR, and 10 % of the 2 EUR that IB-08 gets more.
    assert.deepEqual(cells, ['829.20', '846.40', '17.20'])
    await page.locator('.plot canvas').waitFor()
    // The address has everything: another member sees the same.
    assert.ok(page.url().startsWith(`${base}${FOREX}/plans/demo-ib/simulate?`))
    const csv = await page.context().request.get(`${page.url()}&format=csv`)
    assert.match(csv.headers()['content-type'] ?? '', /^text\/csv/)
    assert.match(
      await csv.text(),
      /^\ufeffaffiliate_id,[\s\S]*IB-07,demo-ib,EUR,829.20,846.40,17.20/,
    )
  })

  test('a manager copies a template, and the next version stands beside the first', {
    skip,
  }, async () => {
    const { page } = shared()
    await openSignedIn(shared(), `${FOREX}/plans/demo-ib`)
    const terms = page.getByLabel('Terms as JSON')
    const before = await terms.inputValue()
    const names = readdirSync('examples/plans').map((file) => file.replace('.json', ''))
    for (const name of names) {
      await terms.fill('')
      await link(name).click()
      for (let i = 0; i < 100 && (await terms.inputValue()) === ''; i++)
        await page.waitForTimeout(20)
      assert.match(await terms.inputValue(), /"rules"/, name)
    }
    const next = before.replace('2026-01-01', '9998-01-01')
    await terms.fill(next.replace('"hold_days": 14', '"hold_days": 20'))
    await page.getByRole('button', { name: 'Store this version' }).click()
    assert.match(
      await page.getByRole('status').or(page.locator('.notice.good')).innerText(),
      /Version 2 of demo-ib is created/,
    )
    assert.deepEqual(await page.locator('main ins').allInnerTexts(), [
      'It is payable 20 days after the month ends.',
    ])
    assert.deepEqual(await page.locator('main del').allInnerTexts(), [
      'It is payable 14 days after the month ends.',
    ])
    await page.getByText('Withdraw a version').first().click()
    await page.getByLabel('Type demo-ib to confirm').fill('demo-ib')
    await page.getByRole('button', { name: 'Withdraw a version' }).click()
    assert.match(await page.getByRole('status').innerText(), /withdrawn/)
  })

  test('a manager follows a number to its record and the delivery', { skip }, async () => {
    const { page, base } = shared()
    await openSignedIn(shared(), `${FOREX}/statements?period=${PERIOD}`)
    await link('IB-07').click()
    const rule = page.locator('.rule-lines').filter({ hasText: /^30 % of spread/ })
    await rule.locator('summary').click()
    await link('102.00 EUR').click()
    assert.equal(await page.locator('h1').innerText(), 'Why 102.00 EUR')
    assert.match(await page.locator('.sentences').innerText(), /30 % of 340 is 102\./)
    const figures = (await page.locator('details table').textContent()) ?? ''
    assert.match(figures, /Currencies Currency EUR/)
    assert.doesNotMatch(figures, /[{}[\]"]/)
    await rowOf(/^Customers of the line/, 'C-3301')
      .getByRole('link', { name: '1', exact: true })
      .click()
    const delivery = rowOf(/^Records of C-3301/, 'C-3301').getByRole('link')
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
    assert.match(await page.locator('#statements').innerText(), /To approve\s+901\.20 EUR/)
    await page.getByRole('button', { name: 'Approve all that can be approved' }).click()
    const outcome = await page.locator('div.notice.good').innerText()
    assert.match(
      outcome,
      /2 statements of March 2026 are approved\. 1 statement could not be approved/,
    )
    assert.match(outcome, /IB-09, demo-ib[\s\S]*waits for a rate or a currency/)
    assert.match(outcome, /The period is closed, except for 1 affiliate with a draft\./)
    assert.match(outcome, /“Approve without them; an adjustment pays them later”/)
    assert.doesNotMatch(outcome, /leave_out_holds|`/)
    await link(`IB-09, demo-ib`).click()
    await page
      .getByLabel('Records that wait for a rate or a currency', { exact: true })
      .selectOption('yes')
    await page.getByRole('button', { name: /^Approve \d/ }).click()
    assert.match(await page.getByRole('status').innerText(), /approval was recorded/)
    await page.goto(`${base}${FOREX}/statements?period=${PERIOD}&status=approved`)
    await link('IB-08').click()
    await page.getByLabel('Reference').first().fill('console-test-1')
    await page.getByLabel('Paid on').fill('2026-04-30')
    await page.getByRole('button', { name: 'Record the payment of 72.00 EUR' }).click()
    assert.match(await page.getByRole('status').innerText(), /payment was recorded/)
    const print = await page.context().request.get(`${page.url()}?format=html`)
    assert.match(await print.text(), /<article[\s\S]*IB-08/)
    await page.goto(`${base}${FOREX}/payouts`)
    assert.equal(await rowOf(/^What has to be paid/, 'IB-07').count(), 1)
    assert.equal(await rowOf(/^What has to be paid/, 'IB-08').count(), 0)
    await link('IB-07').click()
    assert.match(await page.locator('.figure-card').first().innerText(), /^Balance\s+829\.20 EUR/)
    assert.match(await rowOf(/^Ledger/, 'Earned for March 2026').innerText(), /829\.20 EUR/)
  })

  test('a manager configures an affiliate that customers name', { skip }, async () => {
    const { page } = shared()
    await openSignedIn(shared(), `${FOREX}/affiliates`)
    await page.getByRole('button', { name: 'Configure IB-99' }).click()
    assert.match(await page.getByRole('status').innerText(), /stored/)
    await link('IB-99').click()
    await page.getByText('Change the parent').click()
    await page.getByLabel('Parent', { exact: true }).first().fill('IB-07')
    await page.getByRole('button', { name: 'Save the parent' }).click()
    assert.match(await page.getByRole('status').innerText(), /stored/)
    await page.goto(`${page.url().split('/console')[0]}${FOREX}/affiliates?view=tree`)
    assert.match(
      await rowOf(/^Configured/, '↳ IB-99')
        .first()
        .innerText(),
      /IB-07/,
    )
  })
}
