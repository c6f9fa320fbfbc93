import { Fragment, jsx } from 'hono/jsx/jsx-runtime'
import { expect, test } from 'vitest'
import { Data, isolated, Sentence, visible } from '../src/console/parts/data.tsx'

const UNSAFE = `<b>"&'`
const SAFE = '&lt;b&gt;&quot;&amp;&#39;'

test('text and attributes are escaped in elements, fragments and components', () => {
  const item = jsx(({ title }: { title: string }) => jsx('li', { title, children: title }), {
    title: UNSAFE,
  })

  expect(`${item}`).toBe(`<li title="${SAFE}">${SAFE}</li>`)
  expect(`${Fragment({ children: [UNSAFE, [item]] })}`).toBe(
    `${SAFE}<li title="${SAFE}">${SAFE}</li>`,
  )
})

test('the text of the console is never rewritten', () => {
  const own = '\u2068IB-07\u2069\u2003↳'

  expect(`${jsx('b', { children: own })}`).toBe(`<b>${own}</b>`)
  expect(`${Fragment({ children: own })}`).toBe(own)
})

test('characters of data that nobody sees are shown by their names', () => {
  const id = '\u202e70-BI\u200b\u00a0\u3164'
  const seen = '‹U+202E›70-BI‹U+200B›‹U+00A0›‹U+3164›'

  expect(`${Data({ text: id })}`).toBe(`<bdi>${seen}</bdi>`)
  expect(isolated(id)).toBe(`\u2068${seen}\u2069`)
  expect(isolated('IB 07')).toBe('IB 07')
  expect(`${Sentence({ text: `\`${id}\` \\u202e` })}`).toBe(`<code>${seen}</code> ‹U+202E›`)
})

test.each(['a b\n', '👩‍💻', '❤️', '🇩🇪', '👍🏽', 'شريك', '株式会社'])(
  '%s is shown as it is',
  (text) => {
    expect(visible(text)).toBe(text)
  },
)

test('null, undefined and booleans render nothing, and zero is text', () => {
  const element = jsx('p', { id: undefined, children: [null, undefined, true, false, 0] })

  expect(`${element}`).toBe('<p>0</p>')
})

test('boolean attributes are present or absent; others state true and false', () => {
  const element = jsx('input', { required: true, disabled: false, 'aria-invalid': false })

  expect(`${element}`).toBe('<input required="" aria-invalid="false"/>')
})
