// Enhances the pages of the console. Every page works without it, but for passkeys.

import './copy.js'
import './passkeys.js'

// The link of `npm run dev` to the sign-in has the key behind the `#`, which no server sees.
const key = /^#key=(.+)/.exec(location.hash)?.[1]
if (key) {
  history.replaceState(null, '', location.pathname)
  const field = document.getElementById('key')
  if (field) {
    field.value = key
    field.closest('details').open = true
  }
}

/** Draws each chart from the table beside it. */
async function drawCharts() {
  const figures = [...document.querySelectorAll('[data-chart]')]
  if (figures.length === 0) return
  const { drawChart } = await import('./console-chart.js')
  for (const figure of figures) drawChart(figure)
}

/** Leaves empty filters out of the address, and applies a chosen filter at once. */
function improveFilters(form) {
  form.addEventListener('submit', () => {
    for (const field of form.elements) field.disabled = field.name !== '' && field.value === ''
    // The browser has read the fields by then. It may show this page again from its cache.
    setTimeout(() => {
      for (const field of form.elements) field.disabled = false
    })
  })
  form.addEventListener('change', ({ target }) => {
    if (target.matches('select')) form.requestSubmit()
  })
}

/** What somebody is using in a part: it would be lost if the part were replaced. */
const IN_USE = ':is(a, button, summary, input, select, textarea):focus, details[open]'

/**
 * Reads a part of the page again every so many seconds, while somebody can see it. It ends once the part no
 * longer says how often.
 */
function keepLive(part) {
  const refresh = async () => {
    const selection = getSelection()
    const isSelected = !selection.isCollapsed && selection.containsNode(part, true)
    if (document.hidden || isSelected || part.querySelector(IN_USE)) return
    const response = await fetch(location.href).catch(() => null)
    // A session that has ended redirects to the sign-in.
    if (!response?.ok || response.redirected) return
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const current = page.getElementById(part.id)
    if (!current) return
    part.replaceChildren(...current.childNodes)
    if (current.dataset.live === undefined) delete part.dataset.live
  }
  const repeat = () => {
    if (part.dataset.live === undefined) return
    setTimeout(() => refresh().finally(repeat), Number(part.dataset.live) * 1000)
  }
  repeat()
}

/** Proposes the values of a list behind each comma of a field: the browser compares the whole text. */
function improveList(field) {
  const { list } = field
  if (!list) return
  const values = [...list.options].map(({ value }) => value)
  const own = document.createElement('datalist')
  own.id = `${field.id}-list`
  field.after(own)
  const propose = () => {
    const before = field.value.slice(0, field.value.lastIndexOf(',') + 1)
    const start = before && `${before} `
    own.replaceChildren(...values.map((value) => new Option('', start + value)))
  }
  field.setAttribute('list', own.id)
  field.addEventListener('input', propose)
  propose()
}

/** Writes the exact sums of ticked amounts by currency: `901.20 EUR and 40.00 USD`. */
function sumsOf(boxes) {
  const sums = new Map()
  for (const { dataset } of boxes) {
    const [whole, fraction = ''] = dataset.amount.split('.')
    const { units } = sums.get(dataset.currency) ?? { units: 0n }
    const digits = fraction.length
    sums.set(dataset.currency, { units: units + BigInt(whole + fraction), digits })
  }
  const texts = [...sums].map(([currency, { units, digits }]) => {
    const text = String(units).padStart(digits + 1, '0')
    const at = text.length - digits
    const whole = text.slice(0, at).replace(/\B(?=(\d{3})+$)/g, ',')
    return `${whole}${digits > 0 ? `.${text.slice(at)}` : ''} ${currency}`
  })
  return new Intl.ListFormat('en-GB').format(texts) || '0'
}

/** Counts and sums what is ticked, and adds a box that ticks all but what is ticked alone. */
function improveTicks(form) {
  const boxes = [...form.querySelectorAll('tbody .tick input')]
  const usual = boxes.filter(({ dataset }) => dataset.alone === undefined)
  const sum = form.querySelector('[data-sum]')
  if (boxes.length === 0) return
  const all = Object.assign(document.createElement('input'), { type: 'checkbox' })
  all.setAttribute('aria-label', 'Tick all')
  form.querySelector('thead .tick').append(all)
  const show = () => {
    const ticked = boxes.filter(({ checked }) => checked)
    all.checked = usual.length > 0 && usual.every(({ checked }) => checked)
    all.indeterminate = ticked.length > 0 && !all.checked
    const hasAmounts = boxes[0].dataset.amount !== undefined
    if (sum) sum.textContent = ticked.length + (hasAmounts ? ` for ${sumsOf(ticked)}` : '')
  }
  form.addEventListener('change', ({ target }) => {
    if (target === all) for (const box of all.checked ? usual : boxes) box.checked = all.checked
    show()
  })
  show()
}

for (const field of document.querySelectorAll('input[data-list][list]')) improveList(field)
for (const form of document.querySelectorAll('[data-ticks]')) improveTicks(form)
for (const form of document.querySelectorAll('[data-filters]')) improveFilters(form)
for (const part of document.querySelectorAll('[data-live]')) keepLive(part)
await drawCharts()
