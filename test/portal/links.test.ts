import { beforeEach, expect, test } from 'vitest'
import { WORDS } from '../../src/platform/documents/texts.ts'
import { affiliateWorld } from '../affiliates/affiliate-world.ts'
import { unescaped } from '../console/form-fields.ts'
import { askAdmin, json } from '../partner.ts'
import { type Browser, hidden, signedInFor } from './join.ts'

// Links in the portal: an affiliate makes them, copies their addresses and sees what comes of them.

const AT = '/portal/acme-forex/links'
const PAGE = 'https://acme.example/start'
const words = WORDS.en

let world: Awaited<ReturnType<typeof affiliateWorld>>
let browser: Browser

beforeEach(async () => {
  world = await affiliateWorld()
  await askAdmin(world.path, 'PATCH', { landing_pages: [PAGE] })
  browser = await signedInFor('acme-forex', 'own')
})

const read = async (path = AT) => unescaped(await (await browser.get(path)).text())

async function send(change: string, fields: Record<string, string>) {
  const csrf = hidden(await (await browser.get(AT)).text(), 'csrf')
  return browser.post(AT, { csrf, change, ...fields })
}

const links = async () => (await json(askAdmin(`${world.path}/links?affiliate_id=own`))).data

test('a form of no change, or of no link, is a page that does not exist', async () => {
  for (const [change, fields] of [
    ['', {}],
    ['burn', { link: 'x' }],
    ['save', {}],
    ['off', { link: 'none' }],
  ] as const) {
    expect([change, (await send(change, fields)).status]).toEqual([change, 404])
  }
})

test('a link is made without script, and its page has address, code, figures and an example', async () => {
  expect(await read()).toContain(`value="${PAGE}"`)
  const made = await send('make', {
    landing_page: `${PAGE}/spring`,
    name: 'Spring',
    pass_query: 'yes',
  })
  const to = made.headers.get('Location') ?? ''
  expect([made.status, to]).toEqual([303, expect.stringMatching(/\?link=[\w-]{8}&done=made$/)])
  const link = (await links()).find(({ name }: { name: string }) => name === 'Spring')
  expect(link).toMatchObject({ landing_page: `${PAGE}/spring`, pass_query: true })
  const page = await read(to)
  expect(page).toContain(words.link_done_made)
  expect(page).toContain(`data-copy="Copy" data-copied="Copied">${link.url}<`)
  expect(page).toContain(`${link.url}?sub1=newsletter&sub2=button`)
  for (const title of [words.clicks, words.signups, words.first_deposits]) {
    expect(page).toContain(`<h2>${title}</h2>`)
  }
  const { data } = await json(askAdmin('audit-log?account=acme-forex'))
  expect(data[0]).toMatchObject({
    ...{ action: 'link.create', actor: expect.stringMatching(/^affiliate-member \S+ own$/) },
  })
})

test('the list says what came of each link, and what is off by whom', async () => {
  const [{ link_id }] = await links()
  const off = await send('off', { link: link_id })
  expect(off.headers.get('Location')).toBe(`${AT}?link=${link_id}&done=off`)
  expect(await read()).toMatch(/Link of own<[\s\S]*turned off</)
  expect((await send('on', { link: link_id })).status).toBe(303)
  await askAdmin(`${world.path}/links/${link_id}`, 'PATCH', { disabled: true })
  const page = await read(`${AT}?link=${link_id}`)
  expect(page).toContain('has turned this link off, and only they can turn it on')
  expect(page).not.toContain(words.turn_on)
  const refused = await send('on', { link: link_id })
  expect([refused.status, unescaped(await refused.text())]).toEqual([
    422,
    expect.stringContaining('has turned this link off'),
  ])
})

test('what is refused is said in words, and what was typed stays', async () => {
  const elsewhere = { landing_page: 'https://evil.example/', name: 'My name' }
  const refused = await send('make', elsewhere)
  const page = unescaped(await refused.text())
  expect(refused.status).toBe(422)
  expect(page).toContain(words.link_page_refused)
  expect(page).toContain('value="https://evil.example/"')
  expect(page).toContain('value="My name"')
  const long = await send('make', { landing_page: PAGE, name: 'x'.repeat(501) })
  expect(unescaped(await long.text())).toContain(words.link_name_refused)
  await askAdmin(world.path, 'PATCH', { landing_pages: [] })
  expect(await read()).toContain('has not named pages to which links of yours may lead')
})

test('a link keeps a page that is not allowed any more until another is chosen', async () => {
  const [{ link_id, landing_page }] = await links()
  const saved = await send('save', { link: link_id, landing_page, name: 'Renamed' })
  expect(saved.status).toBe(303)
  expect(await links()).toMatchObject([{ name: 'Renamed', landing_page, pass_query: false }])
  await send('save', { link: link_id, landing_page: PAGE, name: '' })
  expect(await links()).toMatchObject([{ name: null, landing_page: PAGE }])
})
