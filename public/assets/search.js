// Searches all pages. The index loads when the reader opens the search for the first time.

import { element } from './page.js'

const MAX_RESULTS = 20

let loading

/** Loads MiniSearch and the index. A failed download is tried again at the next search. */
function loadIndex() {
  loading ??= Promise.all([import('./minisearch.js'), fetch('/assets/search.json')])
    .then(async ([{ default: MiniSearch }, response]) => {
      const { options, index } = await response.json()
      return MiniSearch.loadJS(index, options)
    })
    .catch((error) => {
      loading = undefined
      throw error
    })
  return loading
}

const input = element('input', {
  type: 'search',
  id: 'search-input',
  placeholder: 'Search the documentation',
  autocomplete: 'off',
  spellcheck: false,
})
input.setAttribute('aria-label', 'Search the documentation')
input.setAttribute('aria-describedby', 'search-status')
const status = element('p', { id: 'search-status', role: 'status' })
const results = element('ul', { className: 'results' })
const close = element('button', { type: 'button', className: 'close', textContent: 'Close' })
const field = element('div', { className: 'search-field' }, input, close)
const dialog = element('dialog', { className: 'search-dialog' }, field, status, results)
dialog.setAttribute('aria-label', 'Search')

function resultItem({ id, title, page, excerpt }) {
  const link = element('a', { href: id })
  link.append(
    element('span', { className: 'result-page', textContent: page }),
    element('strong', { textContent: title }),
    element('span', { className: 'excerpt', textContent: excerpt }),
  )
  link.addEventListener('click', () => dialog.close())
  return element('li', {}, link)
}

const countOf = (count) => {
  if (count === 1) return '1 result'
  return count > MAX_RESULTS ? `The first ${MAX_RESULTS} of ${count} results` : `${count} results`
}

/** Keeps one of several results with the same text: that on the current page, or else the first. */
function distinct(found) {
  const results = new Map()
  for (const one of found) {
    const key = `${one.title}\n${one.excerpt}`
    const isHere = one.id.split('#')[0] === location.pathname
    if (isHere || !results.has(key)) results.set(key, one)
  }
  return [...results.values()]
}

async function search() {
  const query = input.value.trim()
  const index = await loadIndex().catch(() => null)
  // A later keystroke has replaced the query.
  if (query !== input.value.trim()) return
  if (!index) {
    status.textContent =
      'The search index could not be loaded. Check your connection and try again.'
    return
  }
  // Exact matches and prefixes come first. Misspellings count only if nothing else matches.
  const exact = index.search(query)
  const found = distinct(exact.length > 0 ? exact : index.search(query, { fuzzy: 0.25 }))
  results.replaceChildren(...found.slice(0, MAX_RESULTS).map(resultItem))
  if (query === '') status.textContent = 'Type a word, a field name or an error code.'
  else if (found.length > 0) status.textContent = countOf(found.length)
  else
    status.textContent = `No results for “${query}”. Try a field name, an error code or fewer words.`
}

/** Moves the focus between the input and the results. */
function onKeydown(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const links = [...results.querySelectorAll('a')]
  if (event.key === 'Enter' && event.target === input) links[0]?.click()
  if (!step || links.length === 0) return
  event.preventDefault()
  const next = links.indexOf(document.activeElement) + step
  ;(links[next] ?? (next < 0 ? input : document.activeElement)).focus()
}

function open() {
  dialog.showModal()
  input.select()
  search()
}

input.addEventListener('input', search)
dialog.addEventListener('keydown', onKeydown)
close.addEventListener('click', () => dialog.close())
// A click on the backdrop reaches the dialog itself.
dialog.addEventListener('click', (event) => event.target === dialog && dialog.close())

const button = element('button', { type: 'button', className: 'search-button' })
button.append('Search ', element('kbd', { textContent: '/' }))
button.addEventListener('click', open)
document.querySelector('.top').append(button)
document.body.append(dialog)

document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest('input, textarea, select, [contenteditable]')
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  open()
})
