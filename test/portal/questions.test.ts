import { beforeEach, expect, test } from 'vitest'
import { WORDS } from '../../src/platform/documents/texts.ts'
import { affiliateWorld } from '../affiliates/affiliate-world.ts'
import { unescaped } from '../console/form-fields.ts'
import { askAdmin, json } from '../partner.ts'
import { type Browser, hidden, signedInFor } from './join.ts'

// Questions in the portal: they are asked where they arise, and answered on a page of their own.

const AT = '/portal/acme-forex'
const words = WORDS.en

let world: Awaited<ReturnType<typeof affiliateWorld>>
let browser: Browser

beforeEach(async () => {
  world = await affiliateWorld()
  browser = await signedInFor('acme-forex', 'own')
})

const read = async (path: string) => (await browser.get(`${AT}${path}`)).text()

/** The addresses to which the links `Ask about this` of a page lead, below that of the portal. */
const asksOf = (page: string) =>
  [...page.matchAll(/<a class="ask" href="([^"#]+)/g)].map(([, to = '']) =>
    unescaped(to).slice(AT.length),
  )

/** Sends the form that an address shows, with a text. */
async function ask(path: string, text: string) {
  const page = await read(path)
  const fields = ['csrf', 'line', 'statement', 'customer', 'period'].map(
    (name) => [name, hidden(page, name)] as const,
  )
  return browser.post(`${AT}/questions`, { ...Object.fromEntries(fields), text })
}

const listed = async () => (await json(askAdmin(`${world.path}/questions`))).data

test('a statement, a line and a customer have a link that asks about them', async () => {
  const { id } = world.statementOf('own')
  const [stored] = await world.linesOf('own')
  const [line] = await world.shownLinesOf(await world.makeKey('own'), 'own')
  const statement = await read(`/statements/${id}?line=${line?.id}`)
  const [ofStatement = '', ofLine = ''] = asksOf(statement)
  const [ofCustomer = ''] = asksOf(await read('/customers'))
  for (const [path, text] of [
    [ofStatement, 'Why so little?'],
    [ofLine, 'Why so much?'],
    [ofCustomer, 'Where is <b>Eve</b>?'],
  ] as const) {
    const response = await ask(path, text)
    expect([response.status, response.headers.get('Location')]).toEqual([
      303,
      expect.stringMatching(/\?done=sent#qst_/),
    ])
  }
  expect(await listed()).toMatchObject([
    { about: 'customer', customer: expect.stringMatching(/^c-own/), messages: [{ author: 'Eve' }] },
    { about: 'line', line: stored?.id, statement: id },
    { about: 'statement', statement: id },
  ])
  const page = await read('/questions')
  expect(page).toContain('Where is &lt;b&gt;Eve&lt;/b&gt;?')
  expect(page).not.toContain('<b>Eve')
  expect(page).toContain(`/statements/${id}?line=${line?.id}#why`)
})

test('the answer stands in the thread, and the affiliate writes more', async () => {
  const statement = world.statementOf('own').id
  await ask(`/questions?statement=${statement}`, 'Why?')
  const [{ id }] = await listed()
  const text = 'One customer\nwas counted twice.'
  await askAdmin(`${world.path}/questions/${id}/answers`, 'POST', { text })
  const page = await read('/questions')
  expect(page).toContain(text)
  expect(page).toContain(words.new_answer)
  const csrf = hidden(page, 'csrf')
  const more = await browser.post(`${AT}/questions`, { csrf, question: id, text: 'Thanks' })
  expect(more.headers.get('Location')).toBe(`${AT}/questions?done=sent#${id}`)
  expect(await read('/questions')).toContain(words.question_open)
  expect((await listed())[0].messages.map((one: { text: string }) => one.text)).toEqual([
    'Why?',
    text,
    'Thanks',
  ])
})

test('a question that is refused says why in the language of the affiliate, and keeps the words', async () => {
  await askAdmin(`${world.path}/affiliates`, 'PUT', [{ affiliate_id: 'own', language: 'pt' }])
  const own = `/questions?statement=${world.statementOf('own').id}`
  const blank = await ask(own, ' \u200b ')
  expect([blank.status, await blank.text()]).toEqual([
    422,
    expect.stringContaining(WORDS.pt.question_text),
  ])
  const foreign = await ask(`/questions?statement=${world.statementOf('other').id}`, 'Why this?')
  const page = await foreign.text()
  expect(page).toContain(WORDS.pt.question_gone)
  expect(page).toContain('Why this?</textarea>')
  for (let i = 0; i < 20; i++) await ask(own, `Question ${i}`)
  const refused = await (await ask(own, 'One more')).text()
  expect(refused).toContain('Você tem 20 perguntas abertas')
  expect(refused).toContain('One more</textarea>')
})

test('an answer is announced on every page until the member has seen the questions', async () => {
  const statement = world.statementOf('own').id
  const announced = async (path: string) =>
    (await read(path)).match(/new answers: \d+/g)?.map((text) => text.slice(-1)) ?? []
  await ask(`/questions?statement=${statement}`, 'Why?')
  const [{ id }] = await listed()
  expect(await announced('/statements')).toEqual([])
  await askAdmin(`${world.path}/questions/${id}/answers`, 'POST', { text: 'Because.' })
  const late = await signedInFor('acme-forex', 'own')
  // In the menu of a phone, and beside the link.
  expect(await announced('/statements')).toEqual(['1', '1'])
  const page = await read('/questions')
  expect(page).toContain('<small class="badge good">new answer</small>')
  expect(page).not.toContain('new answers')
  expect(await announced('/statements')).toEqual([])
  expect(await read('/questions')).toContain(`>${words.question_closed}</small>`)
  expect(await (await late.get(`${AT}/statements`)).text(), 'a later member').not.toContain('new a')
  await askAdmin(`${world.path}/questions/${id}/answers`, 'POST', { text: 'And because.' })
  expect(await announced('')).toEqual(['1', '1'])
  expect(await (await late.get(AT)).text()).toContain('new answers: 1')
})
