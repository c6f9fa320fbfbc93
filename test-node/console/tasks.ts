import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator } from 'playwright-core'
import { skip } from '../browser/chromium.ts'
import { DESKTOP, PHONE } from '../browser/viewports.ts'
import { openSignedIn, type Shared } from './frame.ts'

// What a manager does most, from the first page of the console on, with as few clicks.

const HOME = '/console'

/** The link to the page that approves a month, and its button. */
const APPROVE = 'Approve all that can be approved'

/** Counts clicks. Pressing Enter counts as a click, too. */
function clickCounter() {
  let clicks = 0
  return {
    count: () => clicks,
    click: async (target: Locator) => {
      clicks += 1
      await target.click()
    },
    /** Types an id and presses Enter, which is one step. */
    search: async (target: Locator, id: string) => {
      clicks += 1
      await target.fill(id)
      await target.press('Enter')
    },
  }
}

/** Returns the id of a deposit of the broker whose customer can still qualify. */
async function depositThatWaits({ base, key }: Shared): Promise<string> {
  const now = new Date()
  const months = [now, new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0))]
  for (const month of months) {
    const period = month.toISOString().slice(0, 7)
    const query = `period=${period}&reason=not_qualified&per_page=500`
    const url = `${base}/admin/v1/accounts/demo-broker/unearned/facts?${query}`
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${key}` } })
    const { data } = (await answer.json()) as { data: { id: string; until?: string }[] }
    const open = data.find(({ until }) => until && until > now.toISOString())
    if (open) return open.id
  }
  throw new Error('No deposit of demo-broker waits for the qualification of its customer.')
}

/** Defines the tests of the tasks of a manager. */
export function taskTests(shared: () => Shared): void {
  const main = () => shared().page.locator('main')

  test('what is owed this month needs no click, and its comparison with the last month needs one', {
    skip,
  }, async () => {
    await openSignedIn(shared(), HOME)
    const broker = main().locator('.account-list > li').filter({ hasText: 'Demo Broker' })
    assert.match(
      await broker.innerText(),
      /Owed for \w+ \d{4}\s*[\d,]+\.\d\d EUR\s*[\d,]+\.\d\d USD/,
    )
    await broker.getByRole('link', { name: 'Demo Broker' }).click()
    const owed = await main().locator('.figure-card').first().innerText()
    assert.match(
      owed,
      /^Owed for \w+ \d{4}\s+[\d,]+\.\d\d EUR\s+\w+ \d{4} as a whole: [\d,]+\.\d\d EUR\s[\s\S]+So far, \d+ of \d+ days/,
    )
  })

  test('what needs attention has one button each, 2 clicks from the start, on a desktop', {
    skip,
  }, async () => {
    const { base, page } = shared()
    await openSignedIn(shared(), HOME, DESKTOP)
    const { count, click } = clickCounter()
    const broker = main().locator('.account-list > li').filter({ hasText: 'Demo Broker' })
    assert.match(await broker.innerText(), /Needs attention\s+\d+ statements? to approve/)
    await click(broker.getByRole('link', { name: 'Demo Broker' }))
    await page.getByRole('heading', { name: 'Needs attention' }).waitFor()
    const items = await main().locator('.todo > li').all()
    assert.ok(items.length > 1)
    for (const item of items) {
      const [button, ...others] = await item.getByRole('link').all()
      assert.equal(others.length, 0)
      const answer = await page.request.get(base + (await button?.getAttribute('href')))
      assert.equal(answer.status(), 200)
    }
    assert.match(await main().locator('#feeds').innerText(), /records in 24 hours/)
    await click(main().getByRole('link', { name: 'Review', exact: true }))
    await main().getByRole('link', { name: APPROVE }).waitFor()
    assert.equal(count(), 2)
  })

  test('what is ticked becomes a batch by 3 clicks of a manager, and a file for the bank by 5 of an approver', {
    skip,
  }, async () => {
    const { browser, demo } = shared()
    const as = async (key: string) => {
      const page = await browser.newPage({ viewport: DESKTOP })
      const own = { ...shared(), key, page }
      await openSignedIn(own, '/console/accounts/demo-broker')
      return { page, ...clickCounter() }
    }
    const manager = await as(demo.member_keys.manager)
    await manager.click(manager.page.locator('.side').getByRole('link', { name: 'Payouts' }))
    // All who can be paid have an open case, which only their own tick waives.
    await manager.page.getByLabel('Tick all').check()
    assert.match(await manager.page.locator('.ticked').innerText(), /^Ticked: 2 for 400\.00 USD$/)
    await manager.page.getByLabel('Tick all').uncheck()
    await manager.click(manager.page.getByRole('checkbox', { name: /^Pay IB-5, / }))
    await manager.click(manager.page.getByRole('button', { name: 'Prepare a batch' }))
    await manager.page.getByRole('heading', { name: /^Prepared batch B/ }).waitFor()
    const batch = /B[\dA-Z]{9}/.exec(manager.page.url())?.[0] ?? ''
    assert.match(await manager.page.locator('main').innerText(), /has to confirm it|may confirm it/)
    assert.equal(await manager.page.getByRole('button', { name: /^Confirm/ }).count(), 0)
    await manager.page.close()

    const { page, click, count } = await as(shared().key)
    const item = page.locator('.todo > li').filter({ hasText: 'waiting for your confirmation' })
    assert.match(await item.innerText(), new RegExp(batch))
    // The demo has prepared another one.
    await click(item.getByRole('link', { name: 'Look at them' }))
    await click(page.getByRole('link', { name: batch, exact: true }))
    assert.match(
      await page.getByRole('table', { name: /^What it pays/ }).innerText(),
      /[A-Z]{2}…\d{4}[\s\S]*\w+ \d{4}/,
    )
    await click(page.getByRole('button', { name: /^Confirm/ }))
    await click(page.getByRole('button', { name: 'Export the files' }))
    const download = page.waitForEvent('download')
    await click(page.getByRole('link', { name: /^Download B/ }))
    assert.match((await download).suggestedFilename(), /^B.*\.xml$/)
    assert.deepEqual([manager.count(), count()], [3, 5])
    await page.close()
  })

  test('the cases that need a decision are as many as the overview says, 2 clicks from the start, on a phone', {
    skip,
  }, async () => {
    const { page } = shared()
    await openSignedIn(shared(), HOME, PHONE)
    const { count, click } = clickCounter()
    await click(main().locator('.account-list').getByRole('link', { name: 'Demo Broker' }))
    const item = main().locator('.todo > li').filter({ hasText: 'To decide, because' })
    const [number = ''] = (await item.innerText()).split(/\s/)
    await click(item.getByRole('link', { name: 'Decide', exact: true }))
    await page.getByText(`${number} in total`).waitFor()
    assert.equal(count(), 2)
  })

  test('why a deposit earned nothing needs 2 clicks on a phone', { skip }, async () => {
    const { page } = shared()
    const id = await depositThatWaits(shared())
    await openSignedIn(shared(), HOME, PHONE)
    const { count, click, search } = clickCounter()
    await click(main().getByRole('link', { name: 'Demo Broker' }))
    await search(page.getByLabel('Find a record or an affiliate by its id'), id)
    await page.getByRole('heading', { name: `Deposit ${id}` }).waitFor()
    const why = main().locator('.why')
    assert.match(
      await why.innerText(),
      /It earned nothing\. The customer has not qualified by the rule “cpa”\. Still missing: deposits: [\d,.]+ [A-Z]{3} of [\d,.]+ [A-Z]{3}; until \d+ \w+ \d{4}\./,
    )
    assert.equal(count(), 2)
    await why.getByRole('link', { name: 'See what the customer has done' }).click()
    await page.getByRole('heading', { name: /^Customer / }).waitFor()
    const isWider = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
    assert.equal(isWider, false)
  })

  test('a month is approved on a page of its own, which leads to what has to be paid, with 4 clicks on a desktop', {
    skip,
  }, async () => {
    const { page } = shared()
    await openSignedIn(shared(), HOME, DESKTOP)
    const { count, click } = clickCounter()
    const line = main().locator('.account-list > li').filter({ hasText: 'Demo Broker' })
    await click(line.getByRole('link', { name: /statements? to approve/ }))
    await click(main().getByRole('link', { name: APPROVE }))
    await click(main().getByRole('button', { name: APPROVE }))
    assert.match(
      await page.locator('div.notice.good, div.notice.warn').first().innerText(),
      /statements? of .* approved\./,
    )
    await click(main().getByRole('link', { name: 'Pay what is due' }))
    await main()
      .getByRole('table', { name: /^What has to be paid/ })
      .waitFor()
    assert.match(await main().locator('.ticked').innerText(), /^Ticked: \d+ for /)
    assert.equal(count(), 4)
  })

  test('an affiliate with a plan and a link is added with 2 clicks from the overview on a phone', {
    skip,
  }, async () => {
    const { page } = shared()
    await openSignedIn(shared(), HOME, PHONE)
    const { count, click } = clickCounter()
    await main().getByRole('link', { name: 'Demo Forex' }).click()
    await click(main().getByRole('link', { name: 'Add an affiliate' }))
    await page.getByLabel('Id of the affiliate').fill('IB-NEW')
    await page.getByLabel('Parent', { exact: true }).fill('IB-07')
    // By the keyboard, a choice needs no click.
    await page.locator('#change-add').getByLabel('Plan').selectOption('demo-ib')
    await page.getByLabel('Landing page of the link').fill('https://forex.example/start')
    await click(main().getByRole('button', { name: 'Add the affiliate' }))
    assert.match(
      await page.getByRole('status').innerText(),
      /is stored, and its link was created\./,
    )
    const made = main().locator('.with-copy')
    assert.match(await made.locator('code').innerText(), /^https?:\/\/[^/]+\/go\/[\w-]+$/)
    const box = await made.getByRole('button', { name: 'Copy', exact: true }).boundingBox()
    assert.ok((box?.y ?? 9999) < PHONE.height)
    assert.equal(count(), 2)
  })

  test('a plan is made from a template and assigned with 4 clicks on a desktop', {
    skip,
  }, async () => {
    const { page } = shared()
    await openSignedIn(shared(), HOME, DESKTOP)
    const { count, click } = clickCounter()
    await click(main().getByRole('link', { name: 'Demo Broker' }))
    const navigation = page.locator('.side')
    await click(navigation.getByRole('link', { name: 'Plans', exact: true }))
    await click(main().getByRole('link', { name: 'Use the template IB per lot' }))
    assert.match(await page.locator('.in-words').first().innerText(), /for each lot traded/)
    await page.getByLabel('Name', { exact: true }).first().fill('IB per lot, once more')
    await page.getByLabel('Assign it to').fill('NEW-1')
    await click(page.getByRole('button', { name: 'Save the plan' }))
    assert.match(
      await page.getByRole('status').innerText(),
      /Version 1 is saved.*IB per lot, once more is assigned to 1 affiliate/,
    )
    assert.equal(count(), 4)
  })
}
