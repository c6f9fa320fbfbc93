import { expect, test } from 'vitest'
import { Fragment, jsx } from '../src/console/jsx.ts'

const UNSAFE = `<b>"&'`
const SAFE = '&lt;b&gt;&quot;&amp;&#39;'

test('text and attributes are escaped in elements, fragments and components', () => {
  const item = jsx(({ title }) => jsx('li', { title, children: title }), { title: UNSAFE })

  expect(`${item}`).toBe(`<li title="${SAFE}">${SAFE}</li>`)
  expect(`${Fragment({ children: [UNSAFE, [item]] })}`).toBe(
    `${SAFE}<li title="${SAFE}">${SAFE}</li>`,
  )
})

test('characters that nobody sees are written as their codes, but not in values of forms', () => {
  const id = '\u202e70-BI\u200b\u00a0\u3164'
  const seen = '\\u202e70-BI\\u200b\\u00a0\\u3164'

  expect(`${jsx('b', { children: ['a b\n', [id]] })}`).toBe(`<b>a b\n${seen}</b>`)
  expect(`${Fragment({ children: id })}`).toBe(seen)
  expect(`${jsx('input', { value: id })}`).toBe(`<input value="${id}"/>`)
  expect(`${jsx('textarea', { children: id })}`).toBe(`<textarea>${id}</textarea>`)
})

test('null, undefined and booleans render nothing, and zero is text', () => {
  const element = jsx('p', { id: undefined, children: [null, undefined, true, false, 0] })

  expect(`${element}`).toBe('<p>0</p>')
})

test('boolean attributes are present or absent; others state true and false', () => {
  const element = jsx('input', { required: true, disabled: false, 'aria-invalid': false })

  expect(`${element}`).toBe('<input required="" aria-invalid="false"/>')
})
