import { expect, test } from 'vitest'
import { WORDS } from '../../src/platform/documents/texts.ts'
import { affiliateWorld, askWith } from '../affiliates/affiliate-world.ts'
import { askAdmin, json } from '../partner.ts'
import { confirmed, joinedFor } from './join.ts'

// What the pages of the portal show of a world with records, statements and affiliates below.

const AT = '/portal/acme-forex'

test('a member makes keys, which are shown once, and ends them; the audit log names the member', async () => {
  const world = await affiliateWorld()
  const { browser, device } = await joinedFor('acme-forex', 'own')
  const page = async () => (await browser.get(`${AT}/passkeys`)).text()
  const send = async (fields: Record<string, string>) =>
    browser.post(`${AT}/passkeys`, await confirmed(await page(), device, fields))
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
  const second = await make({ scope: 'read links' })
  expect(await json(askWith(second.key, 'me'))).toMatchObject({ scope: 'read links' })
  expect(await keys()).toMatchObject([
    { alive: true, ends_at: null },
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
