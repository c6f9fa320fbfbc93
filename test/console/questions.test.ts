import { beforeEach, expect, test } from 'vitest'
import { affiliateWorld, askWith } from '../affiliates/affiliate-world.ts'
import { ask, askAdmin, json } from '../partner.ts'
import { signedIn } from './browser.ts'

// Questions of affiliates in the console: what waits for an answer, and the answer.

const AT = '/console/accounts/acme-forex'
const TEXT = 'Why is this <b>less</b>?'

let world: Awaited<ReturnType<typeof affiliateWorld>>
let browser: Awaited<ReturnType<typeof signedIn>>

beforeEach(async () => {
  world = await affiliateWorld()
  browser = await signedIn()
})

/** Asks about a line of the affiliate `own`. Returns the ids of the question and the line. */
async function newQuestion() {
  const [line] = await world.linesOf('own')
  const key = await world.makeKey('own', { scope: 'read links' })
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const [shown] = await world.shownLinesOf(key, 'own')
  const body = JSON.stringify({ line: shown?.id, text: TEXT })
  const made = await ask('/affiliate/v1/questions', { method: 'POST', headers, body })
  return { id: (await json(made)).id as string, line: line?.id ?? '' }
}

const read = async (path: string) => (await browser.get(`${AT}${path}`)).text()

test('a question is on the overview, in the list, and beside its line, statement and affiliate', async () => {
  const { id, line } = await newQuestion()
  expect(await read('')).toMatch(/>1<\/span> What [\s\S]* asked waits for an answer[\s\S]*>Answer</)
  for (const path of [
    '/questions',
    `/lines/${line}`,
    `/statements/${world.statementOf('own').id}`,
    '/affiliates/own',
  ]) {
    const page = await read(path)
    expect([path, page]).toEqual([path, expect.stringContaining(`${AT}/questions/${id}"`)])
    expect(page).toContain('Why is this &lt;b&gt;less&lt;/b&gt;?')
  }
  expect(await read('/affiliates/other')).not.toContain(id)
  const [, another = ''] = (await world.linesOf('own')).map((one) => one.id)
  expect(await read(`/lines/${another}`)).not.toContain(id)
})

test('an answer closes the question', async () => {
  const { id } = await newQuestion()
  const at = `${AT}/questions/${id}`
  const change = async (fields: Record<string, string>) =>
    browser.post(at, { csrf: await browser.csrf(at), ...fields })
  const refused = await change({ change: 'answer', text: ' ', status: 'closed' })
  expect(refused.status).toBe(422)
  const text = 'One customer\r\nwas counted twice.'
  expect((await change({ change: 'answer', text, status: 'closed' })).status).toBe(303)
  const stored = await json(askAdmin(`${world.path}/questions/${id}`))
  expect(stored).toMatchObject({ status: 'closed', messages: [{}, { author: 'root-key' }] })
  expect(stored.messages[1].text).toBe('One customer\nwas counted twice.')
  expect(await read('/questions')).toContain('No question matches.')
  expect(await read('/questions?status=all')).toContain(id)
  expect(await read('')).not.toContain('Answer it')
  const log = (await read('/audit-log')).replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
  for (const words of ['A key of own asked an affiliate question', 'answered an affiliate']) {
    expect(log).toContain(words)
  }
})

test('§18.1 a customer is found by the name under which an affiliate knows them, and a question about them shows both', async () => {
  const key = await world.makeKey('own', { scope: 'read links' })
  const { data } = await json(askWith(key, 'customers'))
  const names = data.map(({ customer }: { customer: string }) => customer)
  expect(names.length).toBeGreaterThan(1)
  for (const name of names) {
    const { customer_id, names: known } = await json(
      askAdmin(`${world.path}/customers/${name}/names`),
    )
    expect(known).toContainEqual({ affiliate_id: 'own', name })
    expect(await json(askAdmin(`${world.path}/customers/${customer_id}/names`))).toEqual({
      customer_id,
      names: known,
    })
    const found = await browser.get(`${AT}/find?record_id=${name}`)
    expect(found.headers.get('Location')).toBe(`${AT}/customers/${customer_id}`)
  }
  const nobody = `c_${'0'.repeat(24)}`
  expect(await json(askAdmin(`${world.path}/customers/${nobody}/names`))).toEqual({
    customer_id: null,
    names: [],
  })

  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const body = JSON.stringify({ customer: names[0], text: TEXT })
  const { id } = await json(ask('/affiliate/v1/questions', { method: 'POST', headers, body }))
  const page = await read(`/questions/${id}`)
  const { customer } = await json(askAdmin(`${world.path}/questions/${id}`))
  expect(page).toContain(`/customers/${customer}"`)
  expect(page).toContain(names[0])

  await askAdmin(`${world.path}/customers/${customer}/affiliations`, 'PUT', {
    ...{ reason: 'A mistake', affiliations: [{ from: null, affiliate_id: 'other' }] },
  })
  const again = await ask('/affiliate/v1/questions', { method: 'POST', headers, body })
  expect(again.status).toBe(404)

  await askAdmin(world.path, 'PATCH', { affiliate_view: { customer_ids: 'none' } })
  expect(await json(askAdmin(`${world.path}/customers/${customer}/names`))).toEqual({
    customer_id: null,
    names: [],
  })
  expect(await read(`/questions/${id}`)).not.toContain('whom they know as')
})

test('an id that the service has made leads to its page', async () => {
  const { id, line } = await newQuestion()
  const statement = world.statementOf('own').id
  for (const [one, page] of [
    [statement, 'statements'],
    [line, 'lines'],
    [id, 'questions'],
  ]) {
    const found = await browser.get(`${AT}/find?record_id=${one}`)
    expect(found.headers.get('Location')).toBe(`${AT}/${page}/${one}`)
  }
})
