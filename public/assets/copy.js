// Puts a button that copies after each element with `data-copy`, which holds its text; `data-copied` is the text after it.
for (const block of document.querySelectorAll('[data-copy]')) {
  const { copy, copied } = block.dataset
  const button = Object.assign(document.createElement('button'), {
    type: 'button',
    className: 'plain',
    textContent: copy,
  })
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.textContent)
    button.textContent = copied
    setTimeout(() => Object.assign(button, { textContent: copy }), 2000)
  })
  block.after(' ', button)
}
