import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { storeClicks } from '../src/db/directory/clicks.ts'
import { WORDS } from '../src/portal/words.ts'
import { affiliateWorld, askWith } from './affiliate-world.ts'
import { unescaped } from './console/form-fields.ts'
import { askAdmin, json } from './partner.ts'
import { hidden, signedInFor } from './portal/join.ts'

// What the pages of the portal show of a world with records, statements and affiliates below.

const AT = '/portal/acme-forex'

type World = Awaited<ReturnType<typeof affiliateWorld>>

/** Returns a function that reads a page as text without tags, in a language. */
async function reader(world: World, language: string) {
  await askAdmin(`${world.path}/affiliates`, 'PUT', [{ affiliate_id: 'own', language }])
  const browser = await signedInFor('acme-forex', 'own')
  const html = async (path: string) => {
    const response = await browser.get(`${AT}${path}`)
    const text = await response.text()
    expect([path, response.status]).toEqual([path, 200])
    return text
  }
  const read = async (path: string) =>
    unescaped((await html(path)).replaceAll(/<[^>]+>/g, ' ')).replaceAll(/\s+/g, ' ')
  return { html, read }
}

/** Approves the statement of `own`, and books its payment. */
async function payOwn(world: World) {
  const { id, hash } = world.statementOf('own')
  const path = `${world.path}/statements/${id}`
  await askAdmin(`${path}/approve`, 'POST', { hash, leave_out_holds: true })
  return async (reference: string) =>
    askAdmin(`${path}/pay`, 'POST', { reference, paid_on: '2026-11-20' })
}

test('payments say what is due and what was paid, and bookings have the balance after each', async () => {
  const world = await affiliateWorld()
  const { read } = await reader(world, 'en')
  expect(await read('/payments')).toContain(WORDS.en.nothing_due)
  expect(await read('/payments/ledger')).toContain(WORDS.en.no_entries)
  const draft = await read(`/statements/${world.statementOf('own').id}`)
  expect(draft).toMatch(/not approved yet: payable from \d+ \w+ \d{4} on, once it is approved/)
  const pay = await payOwn(world)
  const key = await world.makeKey('own')
  const { payable, total } = await json(askWith(key, `statements/${world.statementOf('own').id}`))
  expect(await read('/payments')).toContain(`${payable} EUR is due.`)
  expect((await pay('PAY-7')).status).toBe(200)
  const payments = await read('/payments')
  expect(payments).toContain('paid on 20 Nov 2026')
  expect(payments).toContain('PAY-7')
  expect(await read('/payments/ledger')).toMatch(
    /Paid, October 2026 PAY-7 .* -\d+\.\d\d EUR 0\.00 EUR/,
  )
  for (const order of ['oldest', 'latest']) {
    const { data } = await json(askWith(key, `ledger?order=${order}`))
    expect(data).toHaveLength(2)
    const [earned, paid] = order === 'oldest' ? data : data.toReversed()
    expect(earned).toMatchObject({ kind: 'earned', amount: total, balance_after: total })
    expect(paid).toMatchObject({ kind: 'paid', amount: `-${payable}`, balance_after: '0.00' })
  }
  const { meta, ...first } = await json(askWith(key, 'ledger?order=latest&per_page=1'))
  const second = await json(askWith(key, `ledger?order=latest&cursor=${meta.next_cursor}`))
  expect([...first.data, ...second.data].map((one) => one.balance_after)).toEqual(['0.00', total])
})

test('a statement lists its lines by rule, and each opens to its reason in the language of the affiliate', async () => {
  const world = await affiliateWorld()
  const { html, read } = await reader(world, 'de')
  expect(await read('/statements')).toContain('Oktober 2026')
  const statement = `/statements/${world.statementOf('own').id}`
  const page = await read(statement)
  expect(page).toContain('So ergibt sich der Betrag')
  expect(page).toContain('10 % von Einzahlungen, für jeden Kunden getrennt.')
  const key = await world.makeKey('own')
  const [line] = (await world.shownLinesOf(key, 'own')).filter(({ rule }) => rule === 'cpa')
  const why = await read(`${statement}?line=${line?.id}`)
  // The line and its rule, before its reason.
  expect(why).toMatch(/Warum dieser Betrag Kunde c_[\da-f]{24} .*einmal/)
  expect(why).toContain('Was zählt, ist vom 2. Okt. 2026: 102,00 EUR.')
  expect(why).toContain('mit 1: dass der Kunde innerhalb')
  expect(why).toContain('Die Zeile zahlt 20,00 EUR.')
  expect(await html(`${statement}?format=html`)).toContain('<html lang="de">')
  expect(await html(`${statement}?format=csv`)).toContain('statement_id,')
})

test('a customer says what is missing and until when, in each language', async () => {
  const world = await affiliateWorld()
  for (const [language, missing] of [
    ['en', 'Still missing: days with lots traded: 0 of 1; until'],
    ['de', 'Es fehlt noch: Tage mit Lots: 0 von 1; bis'],
    ['es', 'Falta todavía: días con lotes operados: 0 de 1; hasta el'],
    ['fr', 'Il manque encore : '],
    ['pt', 'Ainda falta: dias com lotes negociados: 0 de 1; até'],
  ] as const) {
    const { read } = await reader(world, language)
    const page = await read('/customers')
    expect(page).toContain(missing)
    expect(page).toMatch(/Malt[ae]/)
    expect(await read('/customers?status=qualified')).not.toContain(missing)
  }
})

test('affiliates below are shown as the account shows them', async () => {
  const world = await affiliateWorld()
  const { read } = await reader(world, 'en')
  expect(await read('/sub-affiliates')).toMatch(/below 1 \d \d/)
  expect(await read('/sub-affiliates')).not.toContain(WORDS.en.below_customers)
  await world.show({ sub_affiliates: 'customers' })
  expect(await read('/sub-affiliates')).toMatch(
    /below 1 \d \d 2 customers c_[\da-f]{24} 1 Oct 2026/,
  )
  await world.show({ sub_affiliates: 'none' })
  const page = await read('/sub-affiliates')
  expect(page).toContain('does not show the affiliates below you.')
})

test('a member makes keys, which are shown once, replaces and ends them; the audit log names the member', async () => {
  const world = await affiliateWorld()
  const browser = await signedInFor('acme-forex', 'own')
  const page = async () => (await browser.get(`${AT}/passkeys`)).text()
  const send = async (fields: Record<string, string>) =>
    browser.post(`${AT}/passkeys`, { csrf: hidden(await page(), 'csrf'), ...fields })
  const make = async (fields: Record<string, string> = {}) => {
    const response = await send({ change: 'make-key', name: 'Tracker', scope: 'read', ...fields })
    const text = response.status === 303 ? await page() : await response.text()
    return { status: response.status, text, key: /taf_test_\w+/.exec(text)?.[0] ?? '' }
  }
  const statusOf = async (key: string) => (await askWith(key, 'me')).status
  const first = await make()
  expect([first.status, await statusOf(first.key)]).toEqual([303, 200])
  expect(first.text).toContain('/affiliate/v1/me -H')
  expect(await page()).not.toContain(first.key)
  const keys = async () => (await json(askAdmin(`${world.path}/affiliates/own/keys`))).data
  const [{ id }] = await keys()
  const second = await make({ scope: 'read links', replaces: id })
  expect(await json(askWith(second.key, 'me'))).toMatchObject({ scope: 'read links' })
  expect(await keys()).toMatchObject([
    { alive: true, ends_at: expect.any(String) },
    { alive: true, ends_at: null, created_by: expect.stringMatching(/^affiliate-member \S+ own$/) },
  ])
  for (let i = 0; i < 3; i++) expect((await make()).status).toBe(303)
  const refused = await make()
  expect([refused.status, refused.key]).toEqual([422, ''])
  expect(refused.text).toContain(WORDS.en.keys_full)
  expect((await send({ change: 'end-key', key: id })).status).toBe(303)
  expect(await statusOf(first.key)).toBe(401)
  expect((await send({ change: 'end-key', key: 'x' })).status).toBe(404)
  const made = await json(askAdmin(`${world.path}/affiliates/other/keys`, 'POST', { name: 'T' }))
  expect((await send({ change: 'end-key', key: made.id })).status, 'a foreign key').toBe(404)
  expect((await browser.post(`${AT}/passkeys`, { change: 'make-key', name: 'x' })).status).toBe(400)
  const { data } = await json(askAdmin(`audit-log?account=acme-forex`))
  const entry = data.find(({ action }: { action: string }) => action === 'affiliate-key.end')
  expect(entry.actor).toMatch(/^affiliate-member \S+ own$/)
})

test('figures of campaigns are by the parameter that the address names', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own')
  const [link] = (await json(askWith(key, 'links'))).data
  const subs = [{ sub1: 'newsletter', sub2: 'top' }, { sub1: 'newsletter' }, {}]
  await storeClicks(
    env.DB,
    subs.map((one, i) => ({
      ...{ account: 'acme-forex', link_id: link.link_id, click_id: `click-${i}` },
      ...{ clicked_at: Date.now(), subs: one },
    })),
  )
  const { read } = await reader(world, 'en')
  expect(await read('/links/campaigns')).toMatch(/newsletter 2 0 0 without sub1 1 /)
  expect(await read('/links/campaigns?by=sub2')).toMatch(/without sub2 2 .*top 1 0 0/)
  expect(await read('/links/campaigns?by=sub5')).toContain('without sub5')
  expect(await read('/links')).toContain(WORDS.en.campaign_figures)
})
