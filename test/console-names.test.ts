import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import perLot from '../examples/plans/ib-per-lot.json'
import type { PlanTerms } from '../src/commission/engine/plan.ts'
import { statementRows } from './commission/statement-rows.ts'
import { storePlan } from './commission/stored.ts'
import { KEY_WORLD, signedIn } from './console/browser.ts'
import { countTrips } from './console/trips.ts'
import { askAdmin, json, issuedPartner as partner } from './partner.ts'

// Pages show plans and affiliates by the names that members gave them.

const AT = '/console/accounts/acme'

async function open(affiliates: readonly object[] = []) {
  await partner('forex', { account: 'acme', affiliates: ['aff-7'] })
  await askAdmin('accounts/acme/affiliates', 'PUT', [
    { affiliate_id: 'aff-7', display_name: 'Alpine Markets' },
    ...affiliates,
  ])
  await storePlan('acme', 'standard-ib', { ...perLot, name: 'Rebates' } as PlanTerms)
  const browser = await signedIn()
  const read = async (path: string) => {
    const { db, trips } = countTrips(env.DB)
    const response = await browser.get(AT + path, {}, { ...KEY_WORLD, DB: db })
    return { text: await response.text(), trips: trips() }
  }
  const change = async (path: string, fields: Record<string, string>) => {
    const at = `${AT}${path}`
    const response = await browser.post(at, { csrf: await browser.csrf(at), ...fields })
    return (await browser.get(response.headers.get('Location') ?? at)).text()
  }
  return { read, change }
}

const words = (text: string) => text.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ')

test('a list has the name of an affiliate before its id', async () => {
  const { read } = await open([{ affiliate_id: 'aff-8' }])
  await env.DB.batch(statementRows(env.DB, 'acme'))
  for (const path of ['/affiliates', '/statements?period=all']) {
    const { text } = await read(path)
    expect(words(text), path).toContain('Alpine Markets (aff-7)')
    expect(words(text), path).not.toContain('(aff-8)')
  }
  expect((await read('/affiliates/aff-7')).text).toContain(
    '<h1>Alpine Markets <bdi class="id">(aff-7)</bdi></h1>',
  )
})

test('the names of the first 500 affiliates cost no round trip, those of others one', async () => {
  const { read } = await open(
    Array.from({ length: 498 }, (_, i) => ({ affiliate_id: `b-${1000 + i}` })),
  )
  await askAdmin('accounts/acme/affiliates', 'PUT', [
    { affiliate_id: 'z-1', display_name: 'Last of all' },
  ])
  const listOf = async (affiliate: string) => {
    await env.DB.batch([
      ...['statements', 'ledger', 'statement_lines'].map((table) =>
        env.DB.prepare(`delete from ${table}`),
      ),
      ...statementRows(env.DB, 'acme', affiliate).slice(0, 1),
    ])
    return read('/statements?period=all')
  }
  const first = await listOf('aff-7')
  const among500 = await listOf('z-1')
  await askAdmin('accounts/acme/affiliates', 'PUT', [{ affiliate_id: 'b-2000' }])
  const beyond = await listOf('z-1')

  for (const { text } of [among500, beyond]) expect(words(text)).toContain('Last of all (z-1)')
  expect([among500.trips, beyond.trips]).toEqual([first.trips, first.trips + 1])
})

test('messages and forms name a plan, and its id only where two plans have the same name', async () => {
  const { read, change } = await open()
  expect((await read('/affiliates')).text).toContain('<option value="standard-ib">Rebates</option>')
  const added = await change('/affiliates', {
    ...{ change: 'add', affiliate_id: 'aff-9', display_name: '', contact_email: '', parent: '' },
    ...{ plan: 'standard-ib', landing_page: '' },
  })
  expect(words(added)).toContain('The plan Rebates applies from')
  await storePlan('acme', 'other-ib', { ...perLot, name: 'Rebates' } as PlanTerms)
  const { text } = await read('/affiliates')
  expect(text).toContain('<option value="standard-ib">Rebates (standard-ib)</option>')
})

test('affiliates are listed by their ids', async () => {
  await open([{ affiliate_id: 'a,"b', display_name: 'Odd' }, { affiliate_id: 'aff-8' }])
  const ids = encodeURIComponent(JSON.stringify(['a,"b', 'aff-7', 'nobody']))
  const { data } = await json(askAdmin(`accounts/acme/affiliates?ids=${ids}`))
  expect(data.map((one: { affiliate_id: string }) => one.affiliate_id)).toEqual(['a,"b', 'aff-7'])
  for (const wrong of ['x', '[]', '[1]', '{}', JSON.stringify(Array(501).fill('a'))]) {
    const path = `accounts/acme/affiliates?ids=${encodeURIComponent(wrong)}`
    expect((await askAdmin(path)).status, wrong.slice(0, 9)).toBe(400)
  }
})

test('the plan that is chosen for the ticked affiliates stays while filters change', async () => {
  const { read } = await open()
  const { text } = await read('/affiliates?plan=standard-ib&search=nobody')
  expect(text).toContain(
    '<input type="hidden" name="plan" value="standard-ib" data-keeps="assign-plan"/>',
  )
  expect(text).toContain(`<a href="${AT}/affiliates?plan=standard-ib">Clear</a>`)
})

test('the list of affiliates has the plan that begins later, with its day', async () => {
  const { read } = await open()
  const assignment = { plan: 'standard-ib', from: '2999-12-01', customers: 'all' }
  await askAdmin('accounts/acme/assignments', 'PUT', [{ ...assignment, affiliate_id: 'aff-7' }])
  expect(words((await read('/affiliates')).text)).toMatch(/No plan ?from 1 Dec 2999: Rebates/)
})
