import type { SampleRequest, Value } from './sample.ts'

// Each sample runs as it is shown with the standard library of its language. `test-node/samples.test.ts`
// runs them.

/** A language in which sample requests are written. */
export interface Language {
  /** The name for the highlighter and for the remembered choice. */
  name: string
  title: string
  write: (request: SampleRequest) => string
}

const indented = (text: string, by: string) => text.replaceAll('\n', `\n${by}`)

const lines = (...all: (string | false | undefined)[]) =>
  all.filter((line) => typeof line === 'string').join('\n')

/** How a language writes a JSON value. */
interface Style {
  indent: string
  null: string
  true: string
  false: string
  text: (text: string) => string
  member: (name: string, value: string) => string
  object: readonly [string, string]
}

function literal(value: unknown, style: Style): string {
  if (value === null || value === true || value === false) return style[`${value}`]
  if (typeof value === 'string') return style.text(value)
  if (typeof value !== 'object') return String(value)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : style.object
  const parts = Array.isArray(value)
    ? value.map((item) => literal(item, style))
    : Object.entries(value).map(([name, item]) => style.member(name, literal(item, style)))
  if (parts.length === 0) return `${open}${close}`
  const body = parts.map((part) => `${style.indent}${indented(part, style.indent)},`)
  return [open, ...body, close].join('\n')
}

const singleQuoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`

// curl

const shellQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

const shellValue = (name: string, between: string, value: Value) =>
  typeof value === 'string'
    ? shellQuoted(`${name}${between}${value}`)
    : `"${name}${between}${value.prefix}$${value.variable}"`

function curl({ method, url, headers, json, text, form = [], answer }: SampleRequest): string {
  const isImplied = method === 'GET' || form.length > 0
  return [
    `curl ${answer === 'redirect' ? '-si' : '-s'}${isImplied ? '' : ` -X ${method}`}`,
    shellQuoted(url),
    ...headers.map(([name, value]) => `-H ${shellValue(name, ': ', value)}`),
    ...form.map(([name, value]) => `-d ${shellValue(name, '=', value)}`),
    ...(json === undefined ? [] : [`-d ${shellQuoted(JSON.stringify(json, null, 2))}`]),
    ...(text === undefined ? [] : [`--data-binary ${shellQuoted(text)}`]),
  ].join(' \\\n  ')
}

// TypeScript

const TYPESCRIPT: Style = {
  indent: '  ',
  null: 'null',
  true: 'true',
  false: 'false',
  text: singleQuoted,
  member: (name, value) => `${/^[a-z_$][\w$]*$/i.test(name) ? name : singleQuoted(name)}: ${value}`,
  object: ['{', '}'],
}

const typescriptValue = (value: Value) => {
  if (typeof value === 'string') return singleQuoted(value)
  const variable = `process.env.${value.variable}`
  return value.prefix ? `\`${value.prefix}\${${variable}}\`` : `${variable} ?? ''`
}

const typescriptObject = (members: readonly (readonly [string, Value])[]) =>
  lines(
    '{',
    ...members.map(([name, value]) => `  ${TYPESCRIPT.member(name, typescriptValue(value))},`),
    '}',
  )

function typescript({ method, url, headers, json, text, form, answer }: SampleRequest): string {
  const options = [
    method !== 'GET' && `method: '${method}'`,
    headers.length > 0 && `headers: ${typescriptObject(headers)}`,
    json !== undefined && `body: JSON.stringify(${literal(json, TYPESCRIPT)})`,
    text !== undefined && `body: ${JSON.stringify(text)}`,
    form && `body: new URLSearchParams(${typescriptObject(form)})`,
  ].flatMap((option) => (option ? [`  ${indented(option, '  ')},`] : []))
  const call = options.length > 0 ? lines(', {', ...options, '}') : ''
  return lines(
    `const response = await fetch(${singleQuoted(url)}${call})`,
    `console.log(response.status, await response.${answer}())`,
  )
}

// Python

const PYTHON: Style = {
  indent: '    ',
  null: 'None',
  true: 'True',
  false: 'False',
  text: (text) => JSON.stringify(text),
  member: (name, value) => `${JSON.stringify(name)}: ${value}`,
  object: ['{', '}'],
}

const pythonValue = (value: Value) => {
  if (typeof value === 'string') return JSON.stringify(value)
  const variable = `os.environ["${value.variable}"]`
  return value.prefix ? `${JSON.stringify(value.prefix)} + ${variable}` : variable
}

const pythonObject = (members: readonly (readonly [string, Value])[]) =>
  lines(
    '{',
    ...members.map(([name, value]) => `    ${JSON.stringify(name)}: ${pythonValue(value)},`),
    '}',
  )

function python({ method, url, headers, json, text, form, answer }: SampleRequest): string {
  const modules = [
    (json !== undefined || answer === 'json') && 'import json',
    (headers.length > 0 || form) && 'import os',
    form && 'import urllib.parse',
    'import urllib.request',
  ]
  const data =
    text !== undefined
      ? `${JSON.stringify(text)}.encode()`
      : json === undefined
        ? form && `urllib.parse.urlencode(${pythonObject(form)}).encode()`
        : `json.dumps(${literal(json, PYTHON)}).encode()`
  const options = [
    JSON.stringify(url),
    method !== 'GET' && `method="${method}"`,
    headers.length > 0 && `headers=${pythonObject(headers)}`,
    data && `data=${data}`,
  ].flatMap((option) => (option ? [`    ${indented(option, '    ')},`] : []))
  const read = answer === 'json' ? 'json.load(response)' : 'response.read().decode()'
  return lines(
    ...modules,
    '',
    'request = urllib.request.Request(',
    ...options,
    ')',
    'with urllib.request.urlopen(request) as response:',
    `    print(response.status, ${read})`,
  )
}

// PHP

const PHP: Style = {
  indent: '    ',
  null: 'null',
  true: 'true',
  false: 'false',
  text: singleQuoted,
  member: (name, value) => `${singleQuoted(name)} => ${value}`,
  object: ['[', ']'],
}

const phpValue = (value: Value, before = '') =>
  typeof value === 'string'
    ? singleQuoted(before + value)
    : `${before + value.prefix ? `${singleQuoted(before + value.prefix)} . ` : ''}getenv('${value.variable}')`

function php({ method, url, headers, json, text, form }: SampleRequest): string {
  const header = headers.map(([name, value]) => `    ${phpValue(value, `${name}: `)},`)
  const fields = form?.map(([name, value]) => `    ${PHP.member(name, phpValue(value))},`)
  const options = [
    'CURLOPT_RETURNTRANSFER => true',
    method !== 'GET' && `CURLOPT_CUSTOMREQUEST => '${method}'`,
    header.length > 0 && `CURLOPT_HTTPHEADER => ${lines('[', ...header, ']')}`,
    json !== undefined && `CURLOPT_POSTFIELDS => json_encode(${phpJson(json)})`,
    text !== undefined && `CURLOPT_POSTFIELDS => ${JSON.stringify(text)}`,
    fields && `CURLOPT_POSTFIELDS => http_build_query(${lines('[', ...fields, ']')})`,
  ].flatMap((option) => (option ? [`    ${indented(option, '    ')},`] : []))
  return lines(
    `$request = curl_init(${singleQuoted(url)});`,
    'curl_setopt_array($request, [',
    ...options,
    ']);',
    'echo curl_exec($request);',
  )
}

/** PHP has one array type: an empty object needs a class of its own. */
const phpJson = (json: unknown) =>
  JSON.stringify(json) === '{}' ? 'new stdClass()' : literal(json, PHP)

/** The languages of sample requests, in the order of their tabs. */
export const LANGUAGES: readonly Language[] = [
  { name: 'bash', title: 'curl', write: curl },
  { name: 'typescript', title: 'TypeScript', write: typescript },
  { name: 'python', title: 'Python', write: python },
  { name: 'php', title: 'PHP', write: php },
]
