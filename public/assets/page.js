// Enhances every page: a copy button on each code block.

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
