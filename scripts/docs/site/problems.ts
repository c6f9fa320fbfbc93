import type { ApiError, ErrorCode } from '../../../src/errors.ts'
import { PROBLEM } from '../explained/problems.ts'
import { PROBLEMS } from '../openapi/failures.ts'
import type { GuidePage } from './guide.ts'
import { html } from './html.ts'
import { codeBlock, inline } from './markdown.ts'
import type { Spec } from './spec.ts'

/** An answer with the code: as a test recorded it, or in the shape of who is told so. */
function sampleOf(code: ErrorCode, spec: Spec): unknown {
  const told = Object.values(spec.components.responses)
    .flatMap(({ content = {} }) => Object.values(content))
    .flatMap(({ examples = {} }) => examples[code] ?? [])
  const isOauthOnly = told.length > 0 && told.every((example) => !example.$ref)
  return isOauthOnly ? told[0]?.value : PROBLEMS[code]!.value
}

/** What the page of a problem says. */
export function problemPage(problem: ApiError, guide: readonly GuidePage[], spec: Spec) {
  const { code, status, title } = problem
  const { cause, cure } = PROBLEM[code]
  const sample = JSON.stringify(sampleOf(code, spec), null, 2)
  const told = guide.filter(
    ({ name, markdown }) => name === 'errors' || markdown.includes(`\`${code}\``),
  )
  const markdown = `# ${title}

\`${code}\`, answered with status ${status}.

## Cause

${cause}

## Cure

${cure}

## What is answered

\`\`\`json
${sample}
\`\`\`

## In the guide

${told.map(({ at, title: called }) => `- [${called}](${at}.md)`).join('\n')}
`
  const main = html`<h1>${title}</h1>
<p class="lead"><code>${code}</code>, answered with status <strong>${status}</strong>.</p>
<h2 id="cause">Cause</h2>
<p>${inline(cause)}</p>
<h2 id="cure">Cure</h2>
<p>${inline(cure)}</p>
<h2 id="answer">What is answered</h2>
${codeBlock(sample, 'json')}
<h2 id="guide">In the guide</h2>
<ul>${told.map(({ at, title: called }) => html`<li><a href="${at}">${called}</a></li>`)}</ul>
<p class="twin"><a href="/problems/${code}.md">Markdown</a></p>
`
  return { code, title, description: `${title}: ${code}, status ${status}.`, markdown, main }
}
