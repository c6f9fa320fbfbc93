// A button on each block of code that copies it.

for (const block of document.querySelectorAll('main pre')) {
  const button = Object.assign(document.createElement('button'), {
    type: 'button',
    className: 'copy',
    textContent: 'Copy',
  })
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.textContent)
    button.textContent = 'Copied'
    setTimeout(() => Object.assign(button, { textContent: 'Copy' }), 2000)
  })
  const around = Object.assign(document.createElement('div'), { className: 'copyable' })
  block.replaceWith(around)
  around.append(block, button)
}
