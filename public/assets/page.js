// Enhances every page: the reader's keys in its examples, a tab for each language, a copy button on each code block.

/** Creates an element with properties. */
export const element = (name, properties = {}, ...children) => {
  const created = Object.assign(document.createElement(name), properties)
  created.append(...children)
  return created
}

/** Puts a button that copies a block of code at its right, where its lines wrap around it. */
export function addCopyButton(block) {
  const code = block.firstElementChild
  const button = element('button', { type: 'button', className: 'copy', textContent: 'Copy' })
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.textContent)
    button.textContent = 'Copied'
    setTimeout(() => Object.assign(button, { textContent: 'Copy' }), 2000)
  })
  block.prepend(button)
}

/**
 * Takes the keys behind the `#` of the address, such as `#name=Demo+Forex&CLIENT_ID=…`, which no server sees. They
 * stay in this tab.
 */
function readKeys() {
  if (/^#name=/.test(location.hash)) {
    sessionStorage.setItem('keys', location.hash.slice(1))
    history.replaceState(null, '', location.pathname)
  }
  return Object.fromEntries(new URLSearchParams(sessionStorage.getItem('keys') ?? ''))
}

/** Writes the keys in the place of the variables of the examples. */
function fillKeys({ name, ...keys }) {
  if (!name) return
  const values = { BASE: location.origin, ...keys }
  const variable = /\$\{process\.env\.(\w+)\}|\{os\.environ\['(\w+)'\]\}|\$(\w+)/g
  for (const block of document.querySelectorAll('main pre')) {
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT)
    for (let text = walker.nextNode(); text; text = walker.nextNode())
      text.data = text.data.replace(variable, (all, a, b, c) => values[a ?? b ?? c] ?? all)
  }
  const button = element('button', { type: 'button', textContent: 'Forget them' })
  button.addEventListener('click', () => {
    sessionStorage.removeItem('keys')
    location.reload()
  })
  const note = element(
    'p',
    { className: 'keys' },
    `The examples have the keys of ${name}. `,
    button,
  )
  document.querySelector('main').prepend(note)
}

/** Makes tabs of the same example in several languages. A choice is that for all examples. */
function addTabs() {
  const choose = (language) => {
    for (const one of document.querySelectorAll('[data-language]'))
      one.hidden = one.dataset.language !== language
    for (const one of document.querySelectorAll('.tabs button'))
      one.setAttribute('aria-pressed', one.textContent === language)
  }
  for (const panel of document.querySelectorAll('.request')) {
    const tabs = [...panel.querySelectorAll('[data-language]')].map(({ dataset: { language } }) => {
      const tab = element('button', { type: 'button', textContent: language })
      tab.addEventListener('click', () => {
        localStorage.setItem('language', language)
        const { top } = tab.getBoundingClientRect()
        choose(language)
        // Examples above have another height now; the chosen one stays where it was.
        scrollBy({ top: tab.getBoundingClientRect().top - top, behavior: 'instant' })
      })
      return tab
    })
    panel.querySelector('.panel-title').append(element('span', { className: 'tabs' }, ...tabs))
  }
  choose(localStorage.getItem('language') ?? 'Shell')
}

const menu = document.querySelector('.menu')
// A link can lead to a heading of the page below the menu.
menu.addEventListener('click', ({ target }) => target.closest('a') && menu.removeAttribute('open'))
fillKeys(readKeys())
addTabs()
for (const block of document.querySelectorAll('main pre')) addCopyButton(block)
