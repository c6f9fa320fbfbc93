// A Tail Worker: it reads the log of the service, and posts the lines that need somebody to a chat or a pager.

/** What it reads of an invocation. */
interface Item {
  readonly scriptName: string | null
  readonly outcome: string
  readonly logs: readonly { readonly message: unknown }[]
}

/** The bold lines of the runbook, and each 500. */
const NEEDED =
  /"(?:database_full|storage_alarm|failed_move|failed_run|late_run|late_feed|totals_differ)"|"status":500\b/

/** The ends of an invocation that could not log a line. */
const BROKEN = /^(?:exception|exceededCpu|exceededMemory)$/

/** Returns what needs somebody. */
export const needed = (items: readonly Item[]): string[] =>
  items.flatMap(({ scriptName, outcome, logs }) => [
    ...logs.flatMap(({ message }) => [message].flat().map(String)).filter((line) => NEEDED.test(line)),
    ...(BROKEN.test(outcome) ? [`${scriptName}: ${outcome}`] : []),
  ])

export default {
  async tail(items: readonly Item[], { ALARM_URL }: { ALARM_URL: string }): Promise<void> {
    const lines = needed(items)
    if (lines.length === 0) return
    await fetch(ALARM_URL, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      // Slack, Mattermost and Google Chat read `text`.
      body: JSON.stringify({ text: lines.join('\n') }),
    })
  },
}
