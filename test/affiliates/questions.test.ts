import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { ask, askAdmin, json } from '../partner.ts'
import { affiliateWorld, askWith, type Who } from './affiliate-world.ts'

// Questions of affiliates, and the answers of the team.

type World = Awaited<ReturnType<typeof affiliateWorld>>

let world: World
const keys = new Map<Who, string>()

beforeEach(async () => {
  world = await affiliateWorld()
  for (const who of ['own', 'other'] as const) {
    keys.set(who, await world.makeKey(who, { scope: 'read links' }))
  }
})

const affiliateKey = (who: Who) => keys.get(who) ?? ''

const post = (who: Who, path: string, body: object) =>
  ask(`/affiliate/v1/${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${affiliateKey(who)}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })

const QUESTION = 'Why is this <b>less</b> than in September?'
const asks = (who: Who, subject: object, text = QUESTION) =>
  post(who, 'questions', { ...subject, text })
const list = (who: Who, query = '') => json(askWith(affiliateKey(who), `questions${query}`))
const admin = (path: string, method?: string, body?: object) =>
  askAdmin(`${world.path}/questions${path}`, method, body)

/** Returns the status and the bytes of a response, without what differs in each. */
const bytesOf = async (response: Response) => [
  response.status,
  (await response.text()).replace(/"request_id":"[^"]+"/, ''),
]

const shownLines = (who: Who) => world.shownLinesOf(affiliateKey(who), who)
const statementOf = (who: Who) => ({ statement: world.statementOf(who).id })

/** Asks about a statement, and returns the question. */
const newQuestion = async (who: Who = 'own') => json(asks(who, statementOf(who)))

test('an affiliate asks about a statement, a line and a customer, and both sides see the thread', async () => {
  const [line] = await shownLines('own')
  const { data: customers } = await json(askWith(affiliateKey('own'), 'customers?period=2026-10'))
  const [{ customer }] = customers
  const { id } = world.statementOf('own')
  const made = await asks('own', { line: line?.id })
  expect(made.status).toBe(201)
  expect(await made.json()).toEqual({
    ...{ id: expect.stringMatching(/^qst_/), affiliate_id: 'own', about: 'line', statement: id },
    ...{ line: line?.id, customer: null, period: '2026-10', status: 'open' },
    asked_at: expect.any(String),
    messages: [{ at: expect.any(String), from: 'affiliate', text: QUESTION }],
  })
  expect((await asks('own', { statement: id })).status).toBe(201)
  expect(await json(asks('own', { customer }))).toMatchObject({ about: 'customer', customer })

  const { data, meta } = await list('own')
  expect(data.map(({ about }: { about: string }) => about)).toEqual([
    'customer',
    'statement',
    'line',
  ])
  expect(meta.total).toBe(3)
  const seen = await json(admin(''))
  // The team reads the ids of customers, whatever affiliates call them.
  expect(seen.data[0]).toMatchObject({ customer: expect.stringMatching(/^c-own/) })
  const [stored] = await world.linesOf('own')
  expect(seen.data[2]).toMatchObject({ about: 'line', line: stored?.id })
  expect(seen.data[0].messages[0].author).toMatch(/^affiliate-key /)
  expect(await list('other')).toMatchObject({ data: [] })
})

test('the team answers, which closes the question; more words open it again', async () => {
  const { id } = await newQuestion()
  const text = 'Eve Example was counted twice.'
  const answer = await admin(`/${id}/answers`, 'POST', { text })
  expect(answer.status).toBe(201)
  expect(await answer.json()).toMatchObject({
    status: 'closed',
    messages: [{ from: 'affiliate' }, { from: 'team', author: 'root-key', text }],
  })
  const seen = (await list('own')).data[0]
  expect(seen.messages[1]).toEqual({ at: expect.any(String), from: 'team', text })

  expect(
    await json(post('own', `questions/${id}/messages`, { text: 'Thanks. And May?' })),
  ).toMatchObject({
    status: 'open',
    messages: [{}, {}, { from: 'affiliate', text: 'Thanks. And May?' }],
  })
  await admin(`/${id}/answers`, 'POST', { text: 'We look into it.', status: 'open' })
  expect((await list('own')).data).toMatchObject([{ id, status: 'open' }])
  await admin(`/${id}/answers`, 'POST', { text: 'It is right.' })
  expect(await list('own', '?status=open')).toMatchObject({ data: [] })
  expect((await list('own', '?status=closed')).data).toHaveLength(1)
})

test('somebody else’s statement, line or customer is the 404 of a missing one, byte for byte', async () => {
  const [foreign] = await shownLines('other')
  const [stored] = await world.linesOf('own')
  await world.show({ customer_ids: 'plain' })
  const missing = await bytesOf(await asks('own', { statement: 'stm_000000000000000000000000' }))
  expect(missing[0]).toBe(404)
  for (const subject of [
    statementOf('other'),
    statementOf('top'),
    statementOf('below'),
    { line: foreign?.id },
    // The firm's id of an own line: it would confirm a guessed customer.
    { line: stored?.id },
    { line: 'lin_x' },
    { customer: 'c-other' },
    { customer: 'c-nobody' },
  ]) {
    expect([subject, ...(await bytesOf(await asks('own', subject)))]).toEqual([subject, ...missing])
  }
  expect((await asks('own', { customer: 'c-own' })).status).toBe(201)
})

test('a pseudonym of another affiliate, the word `hidden` and a hidden draft are not found', async () => {
  const { data } = await json(askWith(affiliateKey('other'), 'customers?period=2026-10'))
  expect((await asks('own', { customer: data[0].customer })).status).toBe(404)
  await world.show({ customer_ids: 'none', drafts: false })
  expect((await asks('own', { customer: 'hidden' })).status).toBe(404)
  expect((await asks('own', statementOf('own'))).status).toBe(404)
  await world.show({ drafts: true })
  const [line] = await shownLines('own')
  await world.show({ drafts: false })
  expect((await asks('own', { line: line?.id })).status).toBe(404)
})

test('a question without a subject, with two, or without words is refused', async () => {
  const refused = async (body: object) => {
    const response = await post('own', 'questions', body)
    return [response.status, (await json(response)).errors?.[0]?.code]
  }
  const { statement } = statementOf('own')
  expect(await refused({ text: QUESTION })).toEqual([422, 'choice'])
  expect(await refused({ statement, line: 'lin_1', text: QUESTION })).toEqual([422, 'choice'])
  for (const [text, code] of [
    ['', 'length'],
    ['x'.repeat(501), 'length'],
    [' \u200b\u2060 ', 'pattern'],
    ['\u202eabc', 'pattern'],
  ]) {
    expect(await refused({ statement, text })).toEqual([422, code])
  }
  expect(await refused({ statement, text: 'x'.repeat(500) })).toEqual([201, undefined])
})

test('the 21st open question is refused, also at the same moment, until one is answered', async () => {
  for (let i = 0; i < 19; i++) await newQuestion()
  const both = await Promise.all([asks('own', statementOf('own')), asks('own', statementOf('own'))])
  expect(both.map(({ status }) => status).sort()).toEqual([201, 422])
  const refused = await json(asks('own', statementOf('own')))
  expect(refused.errors[0].message).toContain('You have 20 open questions')
  expect((await asks('other', statementOf('other'))).status).toBe(201)
  const { data } = await list('own', '?per_page=1')
  await admin(`/${data[0].id}/answers`, 'POST', { text: 'It is right.' })
  expect((await asks('own', statementOf('own'))).status).toBe(201)
  // A closed one that is opened again counts, too.
  const reopened = await post('own', `questions/${data[0].id}/messages`, { text: 'And?' })
  expect(reopened.status).toBe(422)
})

test('two members of the team who answer at once are both stored, in order', async () => {
  const { id } = await newQuestion()
  const texts = Array.from({ length: 8 }, (_, i) => `Answer ${i}`)
  await Promise.all(texts.map((text) => admin(`/${id}/answers`, 'POST', { text })))
  const { messages } = await json(admin(`/${id}`))
  expect(
    messages
      .slice(1)
      .map(({ text }: { text: string }) => text)
      .sort(),
  ).toEqual(texts)
  const { results } = await env.DB.prepare(
    'select position from affiliate_question_messages order by position',
  ).all()
  expect(results.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('a question has at most 100 messages, on either side', async () => {
  const { id } = await newQuestion()
  await env.DB.prepare(
    `insert into affiliate_question_messages
     select account, question, value, 'm' || value, 'team', 'ada', at, 'x'
     from affiliate_question_messages, generate_series(2, 100)`,
  )
    .run()
    .catch(async () => {
      const row = env.DB.prepare(
        `insert into affiliate_question_messages
         select account, question, ?1, 'm' || ?1, 'team', 'ada', at, 'x'
         from affiliate_question_messages where position = 1`,
      )
      await env.DB.batch(Array.from({ length: 99 }, (_, i) => row.bind(i + 2)))
    })
  expect((await post('own', `questions/${id}/messages`, { text: 'More' })).status).toBe(409)
  expect((await admin(`/${id}/answers`, 'POST', { text: 'More' })).status).toBe(409)
})

test('the audit log says who asked and answered, without what they wrote', async () => {
  const { id } = await newQuestion()
  await post('own', `questions/${id}/messages`, { text: 'More words' })
  await admin(`/${id}/answers`, 'POST', { text: 'Because of C-1' })
  const { data } = await json(askAdmin('audit-log?account=acme-forex&action=affiliate-question'))
  expect(
    data.map(({ action, actor }: Record<string, string>) => [action, actor?.split(' ')[0]]),
  ).toEqual([
    ['affiliate-question.answer', 'root-key'],
    ['affiliate-question.add', 'affiliate-key'],
    ['affiliate-question.ask', 'affiliate-key'],
  ])
  for (const { details } of data) expect(details).toEqual({ affiliate_id: 'own', id })
})

test('each message of an affiliate is an event, without its text; an answer is none', async () => {
  await askAdmin(`${world.path}/webhooks`, 'POST', {
    ...{ url: 'https://hooks.example/t', events: ['question.asked'] },
  })
  const { id } = await newQuestion()
  await admin(`/${id}/answers`, 'POST', { text: 'Because' })
  await post('own', `questions/${id}/messages`, { text: 'More words' })
  const { results } = await env.DB.prepare(
    'select type, data from webhook_events order by id',
  ).all<{
    type: string
    data: string
  }>()
  expect(results.map(({ type, data }) => [type, JSON.parse(data)])).toEqual([
    ['question.asked', { question_id: id, affiliate_id: 'own', about: 'statement', message: 1 }],
    ['question.asked', { question_id: id, affiliate_id: 'own', about: 'statement', message: 3 }],
  ])
})

test('an erasure clears what was written about the customer and their lines, and nothing else', async () => {
  await world.show({ customer_ids: 'plain' })
  const lines = await shownLines('own')
  const line = lines.find(({ scope }) => scope === 'customer:c-own')
  const ids = []
  for (const subject of [{ customer: 'c-own' }, { line: line?.id }, statementOf('own')]) {
    ids.push((await json(asks('own', subject))).id)
  }
  await admin(`/${ids[0]}/answers`, 'POST', { text: 'Eve Example has two accounts.' })
  expect(
    (await askAdmin(`${world.path}/customers/c-own/personal-data`, 'DELETE')).status,
  ).toBeLessThan(300)
  const texts = async (id: string) =>
    (await json(admin(`/${id}`))).messages.map(({ text }: { text: string | null }) => text)
  expect(await texts(ids[0])).toEqual([null, null])
  expect(await texts(ids[1])).toEqual([null])
  expect(await texts(ids[2])).toEqual([QUESTION])
  const csv = await (await askWith(affiliateKey('own'), 'questions', 'text/csv')).text()
  expect(csv).not.toContain('Eve')
})

test('questions are read page by page, by statement, and as CSV with a row for each message', async () => {
  const { id } = await newQuestion()
  await newQuestion()
  await admin(`/${id}/answers`, 'POST', { text: '=1+1' })
  const first = await list('own', '?per_page=1')
  expect(first.meta).toMatchObject({ total: 2, next_cursor: expect.any(String) })
  const second = await list('own', `?cursor=${encodeURIComponent(first.meta.next_cursor)}`)
  expect([second.data[0].id, second.meta.next_cursor]).toEqual([id, null])
  const { statement } = statementOf('own')
  expect((await list('own', `?statement=${statement}`)).data).toHaveLength(2)
  expect((await list('own', '?statement=stm_1')).data).toEqual([])
  const { data } = await json(admin(`?affiliate_id=own&status=closed&statement=${statement}`))
  expect(data).toMatchObject([{ id }])
  const csv = await askWith(affiliateKey('own'), 'questions', 'text/csv')
  expect(csv.headers.get('Content-Type')).toContain('text/csv')
  const rows = (await csv.text()).trim().split('\r\n')
  expect(rows).toHaveLength(4)
  expect(rows[3]).toMatch(/,team,'=1\+1$/)
})
