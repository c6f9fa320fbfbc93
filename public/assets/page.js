// Enhances every page: a copy button on each code block, and tabs for the languages of a sample.

const REMEMBERED = 'sample-language'

/** Creates an element with properties. */
export const element = (name, properties = {}, ...children) => {
  const created = Object.assign(document.createElement(name), properties)
  created.append(...children)
  return created
}

/** Wraps a code block together with a button that copies it. */
export function addCopyButton(block) {
  const button = element('button', { type: 'button', className: 'copy', textContent: 'Copy' })
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.textContent)
    button.textContent = 'Copied'
    setTimeout(() => Object.assign(button, { textContent: 'Copy' }), 2000)
  })
  const wrapper = element('div', { className: 'copyable' })
  block.replaceWith(wrapper)
  wrapper.append(block, button)
}

for (const block of document.querySelectorAll('main pre')) addCopyButton(block)

// Storage is unavailable where the reader blocks it. The choice then lasts until the next page.
function remembered() {
  try {
    return localStorage.getItem(REMEMBERED)
  } catch {
    return null
  }
}

function remember(language) {
  try {
    localStorage.setItem(REMEMBERED, language)
  } catch {}
}

/** Opens the samples of one language on the whole page and marks their tabs. */
function choose(language) {
  for (const panel of document.querySelectorAll('.panel.tabbed')) {
    const samples = [...panel.querySelectorAll('details[data-language]')]
    const chosen = samples.find((one) => one.dataset.language === language) ?? samples[0]
    for (const sample of samples) sample.open = sample === chosen
    for (const tab of panel.querySelectorAll('.tabs button')) {
      tab.setAttribute('aria-pressed', String(tab.value === chosen.dataset.language))
    }
  }
}

/** Changes the language and keeps the clicked tab where it is on the screen. */
function onTabClick({ currentTarget }) {
  const before = currentTarget.getBoundingClientRect().top
  choose(currentTarget.value)
  remember(currentTarget.value)
  scrollBy({ top: currentTarget.getBoundingClientRect().top - before, behavior: 'instant' })
}

for (const panel of document.querySelectorAll('.panel.request')) {
  const samples = [...panel.querySelectorAll('details[data-language]')]
  if (samples.length < 2) continue
  const tabs = samples.map((sample) => {
    const { language: value, title: textContent } = sample.dataset
    const tab = element('button', { type: 'button', value, textContent })
    tab.addEventListener('click', onTabClick)
    return tab
  })
  const group = element('div', { className: 'tabs', role: 'group' }, ...tabs)
  group.setAttribute('aria-label', 'Language of the sample')
  panel.querySelector('.panel-title').after(group)
  panel.classList.add('tabbed')
}
choose(remembered())
