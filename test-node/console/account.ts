import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { skip } from '../browser/chromium.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { openSignedIn, type Shared } from './frame.ts'

// What members do with the settings of an account and with its webhooks. The tests share an account.

const ACCOUNT = 'console-firm'
const AT = `/console/accounts/${ACCOUNT}`

const CUSTOMER = {
  customer_id: 'c-1',
  signup_date: '2026-09-01T08:00:00Z',
  affiliate_id: 'IB-1',
  tracking_data: 'click',
}
const DEPOSIT = {
  transaction_id: 't-1',
  customer_id: 'c-1',
  transaction_type: 'deposit',
  status: 'settled',
  amount_currency: 100,
  currency: 'EUR',
  transaction_date: '2026-09-10T10:00:00Z',
}

/** Defines the tests of the pages of an account's settings and webhooks. */
export function accountTests(shared: () => Shared): void {
  let receiver: Receiver

  before(async () => {
    receiver = await startReceiver()
  })
  after(() => receiver.stop())

  /** Opens a page of the account, and returns functions that use it. */
  async function open(path: string) {
    await openSignedIn(shared(), path)
    const { base, page } = shared()
    const click = (name: string) => page.getByRole('button', { name, exact: true }).click()
    return {
      base,
      page,
      click,
      /** Returns a value that a page shows once, by its name. */
      shown: (name: string) =>
        page
          .locator('.notice dt', { hasText: new RegExp(`^${name}$`) })
          .locator('+ dd code')
          .innerText(),
      /** Confirms what cannot be undone. */
      async confirm(change: string) {
        await page.locator('summary', { hasText: change }).click()
        await click(change)
      },
    }
  }

  /** Returns the status of the answer to a client that asks for a token, and the token. */
  async function token(client_id: string, client_secret: string) {
    const form = { grant_type: 'client_credentials', client_id, client_secret }
    const response = await fetch(`${shared().base}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    })
    const { access_token } = (await response.json()) as { access_token?: string }
    return { status: response.status, access_token }
  }

  async function send(resource: string, bearer: string | undefined, record: object) {
    const response = await fetch(`${shared().base}/api/v1/forex/${resource}`, {
      method: 'POST',
      body: JSON.stringify([record]),
      headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' },
    })
    assert.ok(response.ok, await response.text())
  }

  test('a member creates an account, issues a client, and sees a rotated secret once', {
    skip,
  }, async () => {
    const { base, page, click, shown } = await open('/console')
    await page.getByLabel('Account', { exact: true }).fill(ACCOUNT)
    await page.getByLabel('Name', { exact: true }).fill('Console Firm')
    await page.getByLabel('Vertical').selectOption('forex')
    await page.getByLabel('Mode').selectOption('test')
    await click('Create the account')
    await page.waitForURL(`${base}${AT}/credentials`)
    await click('Issue a client')
    const [id, first] = [await shown('Client ID'), await shown('Client secret')]

    await page.goto(`${base}${AT}/credentials`)
    await page.getByLabel('The old client secret').selectOption('1h')
    await click('Rotate the client secret')
    const second = await shown('Client secret')
    assert.notEqual(second, first)
    assert.equal((await token(id, second)).status, 200)
    const { access_token } = await token(id, first)
    await send('customers', access_token, CUSTOMER)
    await send('transactions', access_token, DEPOSIT)

    await page.goto(`${base}${AT}/credentials`)
    assert.ok(!(await page.content()).includes(second))
    await page.locator('summary', { hasText: 'Revoke a client' }).click()
    await page.getByLabel('Type its ID to confirm').fill(id)
    await click('Revoke the client')
    assert.match(await page.getByRole('row', { name: id }).innerText(), /Ended/)
    assert.equal((await token(id, second)).status, 401)
  })

  test('a member maps a status that the records have and the map has not', { skip }, async () => {
    const { page, click } = await open(`${AT}/mappings`)
    assert.match(
      await page.locator('.notice').innerText(),
      /A status of recent transactions has no meaning/,
    )
    await page.getByLabel('settled').selectOption('approved')
    await click('Save the statuses')

    assert.match(await page.locator('.notice').innerText(), /The meanings are saved/)
    assert.equal(await page.getByLabel('settled').inputValue(), 'approved')
    assert.equal(await page.locator('.notice.bad').count(), 0)
  })

  test('a member adds a webhook, sends a test event, sees the answer and deletes the webhook', {
    skip,
  }, async () => {
    const { base, page, click, shown, confirm } = await open(`${AT}/webhooks`)
    const path = '/ok/console'
    await page.getByLabel('URL').fill(receiver.url + path)
    await page.getByLabel('Delivery refused').check()
    await click('Create the webhook')
    const [id, secret] = [await shown('ID'), await shown('Secret')]
    receiver.secrets.set(path, secret)

    const own = `${base}${AT}/webhooks/${id}`
    await page.goto(own)
    assert.ok(!(await page.content()).includes(secret))
    await click('Send a test event')
    assert.match(await page.getByRole('status').innerText(), /The answer: 20\d\./)
    assert.deepEqual(
      receiver.at(path).map(({ event, isSigned }) => [event.type, isSigned]),
      [['webhook.test', true]],
    )

    await openSignedIn(shared(), `${AT}/webhooks/${id}`)
    await confirm('Delete the webhook')
    await page.waitForURL(`${base}${AT}/webhooks`)
    assert.match(await page.locator('main').innerText(), /no webhooks yet/)
  })
}
