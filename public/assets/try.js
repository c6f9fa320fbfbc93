// Sends the request of a form to this service and shows the response. Credentials are read from the
// fields of the page and stored nowhere.

import { element } from './page.js'

/** The header that carries the credential of each security scheme. */
const HEADERS = {
  oauth: (secret) => ({ Authorization: `Bearer ${secret}` }),
  brandToken: (secret) => ({ 'x-api-key': secret }),
  affiliateKey: (secret) => ({ Authorization: `Bearer ${secret}` }),
  adminKey: (secret) => ({ Authorization: `Bearer ${secret}` }),
}

const SHOWN_HEADERS = ['RateLimit', 'Retry-After', 'Preference-Applied', 'X-Request-Id']

const DOT_SEGMENT = 'A URL path cannot contain the id . or .. because browsers remove it.'

const fieldValue = (id) => document.getElementById(id)?.value.trim() ?? ''

const credentialOf = (scheme) => {
  const secret = scheme && fieldValue(scheme)
  return secret ? HEADERS[scheme](secret) : {}
}

/** Returns the names and values of the fields for one part of the request. */
const filledFields = (form, target) =>
  [...form.elements]
    .filter((field) => field.dataset.target === target && field.value !== '')
    .map((field) => [field.name, field.value])

/** Fills in the path parameters of an address. */
function pathOf(form, template) {
  const values = Object.fromEntries(filledFields(form, 'path'))
  if (Object.values(values).some((value) => /^\.\.?$/.test(value))) throw new Error(DOT_SEGMENT)
  return template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? ''))
}

function requestOf(form) {
  const { method, path, scheme, type } = form.dataset
  const query = new URLSearchParams(filledFields(form, 'query')).toString()
  const fields = new URLSearchParams(filledFields(form, 'form')).toString()
  const body = form.elements.body?.value || fields
  const headers = {
    ...Object.fromEntries(filledFields(form, 'header')),
    ...credentialOf(scheme),
    ...(body && { 'Content-Type': type }),
  }
  const address = pathOf(form, path)
  const options = { method, headers, ...(body && { body }), credentials: 'omit' }
  // A link redirects to another origin, which the page must not contact.
  return [
    query ? `${address}?${query}` : address,
    { ...options, redirect: 'manual', cache: 'no-store' },
  ]
}

function parseJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Keeps an issued token, and hides it in the shown response. Returns what happened, or ''. */
function keepToken(form, response, json) {
  if (!response.ok) return ''
  const field = document.getElementById('oauth')
  if (form.dataset.path === '/oauth/revoke' && form.elements.token.value === field.value) {
    field.value = ''
    return ' The token on this page is revoked: get a new one.'
  }
  if (form.dataset.path !== '/oauth/token' || !json?.access_token) return ''
  field.value = json.access_token
  json.access_token = '…'
  return ' The token is now in use on this page.'
}

/** Sends the request of a form. Returns the elements that show the response. */
async function send(form) {
  const [address, options] = requestOf(form)
  const response = await fetch(address, options).catch(() => {
    throw new Error('No response. Check that the service is running.')
  })
  if (response.type === 'opaqueredirect') {
    const text = 'Redirected to the landing page. Browsers hide the address: use curl to see it.'
    return [element('p', { textContent: text })]
  }
  const text = await response.text()
  const json = parseJson(text)
  const note = keepToken(form, response, json)
  const headers = SHOWN_HEADERS.filter((name) => response.headers.has(name))
  const lines = headers.map((name) => `${name}: ${response.headers.get(name)}`)
  const shown = json === null ? text : JSON.stringify(json, null, 2)
  const code = element('pre', { textContent: [...lines, '', shown].join('\n').trim(), tabIndex: 0 })
  return [element('p', { textContent: `Status ${response.status}.${note}` }), code]
}

/** Submits a form and shows the response below it. */
async function submit(form) {
  const button = form.querySelector('[type="submit"]')
  const answer = form.querySelector('.answer')
  button.disabled = true
  await fillFromLists(form)
  const shown = await send(form).catch(({ message }) => [element('p', { textContent: message })])
  answer.replaceChildren(...shown)
  button.disabled = false
  answer.scrollIntoView({ block: 'nearest' })
}

document.addEventListener('submit', (event) => {
  event.preventDefault()
  submit(event.target)
})

const isActive = (item) => item.revoked !== true && item.alive !== false

/**
 * Replaces a sample id that does not exist by the newest one that does, so that the first request
 * succeeds. A value that the reader has typed stays.
 */
async function fillFromList(form, field) {
  const { list, member } = field.dataset
  if (field.value !== field.defaultValue || field.dataset.filled) return
  const headers = credentialOf(form.dataset.scheme)
  const response = await fetch(pathOf(form, list), { headers, cache: 'no-store' }).catch(() => null)
  if (!response?.ok) return
  const { data } = await response.json()
  // The reader may have begun to type while the list was on its way.
  if (field.value !== field.defaultValue || field === document.activeElement) return
  const ids = data.filter(isActive).map((item) => item[member])
  if (ids.length === 0 || ids.includes(field.value)) return
  field.value = list.endsWith('/deliveries') ? ids[0] : ids.at(-1)
  field.dataset.filled = 'true'
}

async function fillFromLists(form) {
  const fields = [...form.elements].filter((field) => field.dataset.list)
  if (!form.dataset.scheme || !fieldValue(form.dataset.scheme)) return
  for (const field of fields) await fillFromList(form, field)
}

/** Copies the credentials of the page into a form that sends them in its body. */
function fillCredentials(form) {
  for (const [name, source] of [['client_id'], ['client_secret'], ['token', 'oauth']]) {
    const field = form.elements[name]
    if (field && field.value === '') field.value = fieldValue(source ?? name)
  }
}

for (const details of document.querySelectorAll('.try')) {
  details.addEventListener('toggle', () => {
    if (!details.open) return
    const form = details.querySelector('form')
    fillCredentials(form)
    fillFromLists(form)
  })
}

/** Sends the sample records of the page one after the other and shows how each request ended. */
async function sendSamples(records) {
  const answer = records.querySelector('.answer')
  const list = element('ul')
  answer.replaceChildren(list)
  for (const id of records.dataset.operations.split(' ')) {
    const form = document.querySelector(`#${id} form`)
    const [{ textContent }] = await send(form).catch(({ message }) => [{ textContent: message }])
    const link = element('a', { href: `#${id}`, textContent: id })
    list.append(element('li', {}, link, ` ${textContent}`))
  }
}

const records = document.querySelector('.records')
const button = document.querySelector('#send-samples')
button?.addEventListener('click', async () => {
  button.disabled = true
  await sendSamples(records)
  button.disabled = false
})
