// Passkeys of console and portal.

/** Asks the device for a passkey, and sends the form with the answer. */
async function answer(form) {
  const { passkey, options } = form.dataset
  const status = form.querySelector('[role=status]')
  status.textContent = ''
  try {
    const isNew = passkey === 'create'
    const parse = isNew ? 'parseCreationOptionsFromJSON' : 'parseRequestOptionsFromJSON'
    const publicKey = PublicKeyCredential[parse](JSON.parse(options))
    const credential = await navigator.credentials[isNew ? 'create' : 'get']({ publicKey })
    form.elements.credential.value = JSON.stringify(credential.toJSON())
    form.submit()
  } catch ({ name }) {
    status.textContent = status.dataset[name === 'InvalidStateError' ? 'known' : 'failed']
  }
}

for (const form of document.querySelectorAll('[data-passkey]')) {
  form.hidden = !globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    answer(form)
  })
  if (!form.hidden)
    for (const note of document.querySelectorAll('[data-no-passkeys]')) note.remove()
}

// The secret of an invitation is behind the `#` of its address, which no browser sends.
for (const form of document.querySelectorAll('[data-invitation]')) {
  form.elements.secret.value = location.hash.slice(1)
  if (form.elements.secret.value) form.submit()
}
