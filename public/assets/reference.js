// "Try it": sends what a form says to this service, and shows what it answers. Secrets are read from
// the fields of this page alone, and kept nowhere.

/** How each scheme of openapi.json is sent. */
const SCHEMES = {
  oauth: (secret) => ({ Authorization: `Bearer ${secret}` }),
  brandToken: (secret) => ({ 'x-api-key': secret }),
  adminKey: (secret) => ({ Authorization: `Bearer ${secret}` }),
}

const SHOWN = ['RateLimit', 'Retry-After', 'Preference-Applied', 'X-Request-Id']

const NO_NAME = 'A URL cannot name . or .. as an id: find it by the filter.'

/** The fields of a form that go to one place, those that are empty left out. */
const filled = (form, to) =>
  [...form.elements]
    .filter((field) => field.dataset.to === to && field.value !== '')
    .map((field) => [field.name, field.value])

/** The request that a form means. */
function requestOf(form) {
  const { method, path, scheme, type } = form.dataset
  const named = Object.fromEntries(filled(form, 'path'))
  // A browser takes these for steps: the request would go to another address than the form says.
  if (Object.values(named).some((value) => /^\.\.?$/.test(value))) throw new Error(NO_NAME)
  const at = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(named[name] ?? ''))
  const query = new URLSearchParams(filled(form, 'query')).toString()
  const secret = scheme && document.getElementById(scheme).value.trim()
  const body = form.elements.body?.value || new URLSearchParams(filled(form, 'form')).toString()
  return [
    query ? `${at}?${query}` : at,
    {
      method,
      headers: {
        ...Object.fromEntries(filled(form, 'header')),
        ...(secret && SCHEMES[scheme](secret)),
        ...(body && { 'Content-Type': type }),
      },
      ...(body && { body }),
      credentials: 'omit',
      cache: 'no-store',
      // A link leads elsewhere, and this page goes nowhere else.
      redirect: 'manual',
    },
  ]
}

const element = (name, text) => Object.assign(document.createElement(name), { textContent: text })

/** What an answer says, if it is JSON. */
function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

async function send(form) {
  const [address, init] = requestOf(form)
  const response = await fetch(address, init).catch(() => {
    throw new Error('No answer: is the service there?')
  })
  if (response.type === 'opaqueredirect') {
    return [element('p', 'A redirect to another site, which a page is not told. Ask with curl.')]
  }
  const text = await response.text()
  const headers = SHOWN.filter((name) => response.headers.has(name))
  const lines = headers.map((name) => `${name}: ${response.headers.get(name)}`)
  const json = parsed(text)
  const token = response.ok && form.dataset.path === '/oauth/token' && json?.access_token
  if (token) {
    document.getElementById('oauth').value = token
    // It is in its field, where nobody can read it over a shoulder.
    json.access_token = '…'
  }
  const said = `Status ${response.status}${token ? ': the token is now in use on this page.' : ''}`
  const shown = json === null ? text : JSON.stringify(json, null, 2)
  const block = element('pre', [...lines, '', shown].join('\n').trim())
  block.tabIndex = 0
  return [element('p', said), block]
}

document.addEventListener('submit', async (event) => {
  event.preventDefault()
  const form = event.target
  const button = form.querySelector('button')
  const answer = form.querySelector('.answer')
  button.disabled = true
  answer.replaceChildren(...(await send(form).catch(({ message }) => [element('p', message)])))
  button.disabled = false
  answer.scrollIntoView({ block: 'nearest' })
})

/** Shows the operations of a list whose words, address or name have what is looked for. */
function filter(list, wanted) {
  const looked = wanted.toLowerCase()
  for (const group of list.querySelectorAll(':scope > ul > li')) {
    const items = [...group.querySelectorAll('li')]
    for (const item of items) {
      const section = document.querySelector(item.querySelector('a').getAttribute('href'))
      const path = section?.querySelector('form')?.dataset.path ?? ''
      const words = [item.textContent, path, section?.id ?? ''].join(' ').toLowerCase()
      item.hidden = !words.includes(looked)
    }
    group.hidden = looked !== '' && items.every(({ hidden }) => hidden)
  }
}

for (const [i, list] of document.querySelectorAll('.side, .menu nav').entries()) {
  const input = element('input')
  Object.assign(input, {
    className: 'filter',
    type: 'search',
    placeholder: 'Filter',
    id: `filter-${i}`,
  })
  input.setAttribute('aria-label', 'Filter the operations')
  input.addEventListener('input', () => filter(list, input.value.trim()))
  list.querySelector('h2').after(input)
}
