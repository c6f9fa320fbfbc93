import assert from 'node:assert/strict'
import { test } from 'node:test'
import { skip } from '../browser/chromium.ts'
import { openSignedIn, type Shared } from './frame.ts'
import { sendRefused } from './refused.ts'

const ACCOUNT = '/console/accounts/demo-forex'

/** Defines the tests of the pages of deliveries, customers and reports. */
export function dataTests(shared: () => Shared): void {
  test('a member finds out why a record was refused', { skip }, async () => {
    const { page } = shared()
    await sendRefused(shared().demo, ['T-refused-1', 'T-refused-2'])
    await openSignedIn(shared(), ACCOUNT)
    await page.getByLabel('Find a record or an affiliate by its id').fill(' T-refused-2 ')
    await page.keyboard.press('Enter')
    await page.waitForURL(/record_id=T-refused-2$/)
    const history = await page.locator('.record-history').innerText()
    assert.match(history, /Refused record 2 of 2/)
    assert.match(history, /is not one of deposit, withdrawal[\s\S]*record 2 › Transaction type/)
  })

  test('a long id does not make the page wider than the window', { skip }, async () => {
    const { page } = shared()
    await openSignedIn(shared(), `${ACCOUNT}/deliveries?record_id=${'x'.repeat(3000)}`)
    assert.match(await page.locator('main').innerText(), /deliveries that were refused/)
    const isWider = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
    assert.equal(isWider, false)
  })

  test('without an id, a member finds the refused delivery', {
    skip,
  }, async () => {
    const { page } = shared()
    await sendRefused(shared().demo, ['T-refused-3', 'T-refused-4'])
    await openSignedIn(shared(), ACCOUNT)
    // Two clicks from the overview to the cause: the refused records, and the delivery.
    await page
      .locator('#feeds')
      .getByRole('link', { name: /refused$/ })
      .first()
      .click()
    await page
      .getByRole('table', { name: /^Deliveries/ })
      .getByRole('link')
      .first()
      .click()
    await page.waitForURL(/\/deliveries\/dlv_/)
    const refused = page.getByRole('table', { name: 'Each record with its errors' })
    assert.match(await refused.innerText(), /Transaction type/)
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    await openSignedIn(shared(), ACCOUNT)
    await page.getByLabel('Find a record or an affiliate by its id').fill(id)
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`/deliveries/${id}$`))
    await page.getByRole('link', { name: 'T-refused-4' }).click()
    await page.waitForURL(/record_id=T-refused-4$/)
  })

  test('a member finds a customer and their records', { skip }, async () => {
    const { page } = shared()
    await openSignedIn(shared(), `${ACCOUNT}/customers`)
    await page.getByLabel('Id of a customer').fill('C-3301')
    await page.keyboard.press('Enter')
    await page.waitForURL(/customer_id=C-3301/)
    await page.getByRole('link', { name: 'C-3301' }).click()
    const records = page.getByRole('table', { name: 'Records of transactions, by day' })
    assert.match(await records.innerText(), /T-3301/)
  })
}
