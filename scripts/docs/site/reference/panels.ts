import { codeBlock, jsonBlock } from '../code.ts'
import { type Html, html, type Part } from '../html.ts'
import { breakable, inline } from '../markdown.ts'
import type { Answer, Example, Media, Spec } from '../spec.ts'
import type { Endpoint } from './pages.ts'
import { answersOf, sampleOf, samplesOf } from './sample.ts'

/** Renders the method of an operation. */
export const methodOf = (method: string): Html =>
  html`<span class="method ${method}">${method.toUpperCase()}</span>`

/** Renders the method and the path of an operation. */
export const addressLine = ({ path, method }: Endpoint): Html =>
  html`${methodOf(method)} <code>${breakable(path)}</code>`

/** Renders the sample request in each language. The script of the page makes tabs of them. */
export const requestPanel = (
  endpoint: Endpoint,
  spec: Spec,
): Html => html`<div class="panel request">
<p class="panel-title">${addressLine(endpoint)}</p>
${samplesOf(endpoint, spec).map(
  ({ title, language, code }) =>
    html`<div data-language="${title}">${codeBlock(code, language)}</div>`,
)}</div>
`

const isFailure = (status: string) => Number(status) >= 400

/** A sample answer of a panel. */
interface Sample {
  status: string
  /** The name of the recorded example. A request and its answer have the same name. */
  name: string
  summary: string
  description?: string
  body?: Html
}

/** Returns the recorded answers of one status, or a sample that is composed from the schema. */
function answerSamplesOf([status, answer]: [string, Answer], spec: Spec): Sample[] {
  const [[type = '', media] = []] = Object.entries(answer.content ?? {})
  // A failure that no test recorded is explained on the page of its code.
  const examples = Object.entries(media?.examples ?? {}).filter(
    ([, { description, $ref }]) => !isFailure(status) || (description && !$ref),
  )
  if (examples.length > 0) {
    const summaries = examples.map(([, { summary }]) => summary)
    return examples
      .filter(([, { summary }], i) => summaries.indexOf(summary) === i)
      .map(([name, example]) => sampleFrom(status, name, example))
  }
  if (isFailure(status)) return []
  return [
    { status, name: '', summary: answer.description, ...(media && composed(type, media, spec)) },
  ]
}

const sampleFrom = (
  status: string,
  name: string,
  { summary = '', description, value }: Example,
): Sample => ({
  status,
  name,
  summary,
  ...(description && { description }),
  body: jsonBlock(value),
})

const composed = (type: string, media: Media, spec: Spec) =>
  type.endsWith('json') ? { body: jsonBlock(sampleOf(media.schema, spec)) } : {}

/** Renders the sample answers. The answer to the sample request comes first and is open. */
export function answerPanel({ operation }: Endpoint, spec: Spec): Part {
  const [body] = Object.values(operation.requestBody?.content ?? {})
  const [requestName = ''] = Object.keys(body?.examples ?? {})
  const samples = answersOf(operation, spec)
    .flatMap((answer) => answerSamplesOf(answer, spec))
    .toSorted((a, b) => Number(b.name === requestName) - Number(a.name === requestName))
  return html`<div class="panel answers">
<p class="panel-title">Response</p>
${samples.map((sample, i) => answerSample(operation.operationId, sample, i === 0))}</div>
`
}

const answerSample = (
  id: string,
  { status, summary, description, body }: Sample,
  isOpen: boolean,
) =>
  html`<details name="${id}-answer"${isOpen && html` open`}><summary><span class="${
    isFailure(status) ? 'status bad' : 'status'
  }">${status}</span> ${inline(summary)}</summary>
${description && sentBody(description)}${body ?? html`<p class="empty">${inline(EMPTY[status] ?? '')}</p>`}</details>
`

const EMPTY: Record<string, string> = {
  200: 'The body is empty, or a document that is not JSON.',
  204: 'The body is empty.',
  304: 'The body is empty.',
}

/** Renders the request that led to a recorded failure. Its Markdown holds one block of JSON. */
function sentBody(description: string): Html {
  const [, before = '', json = ''] = /^([\s\S]*?)```json\n([\s\S]*?)\n```$/.exec(description) ?? []
  return html`<p class="empty">${inline(before.trim())}</p>${codeBlock(json, 'json')}<p class="empty">Response:</p>`
}
