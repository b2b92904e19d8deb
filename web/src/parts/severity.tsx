// How much a finding matters, in colour and in words.

const TONES: Record<string, string> = { high: "bad", medium: "warn", low: "calm" };

export function Severity({ severity }: { severity: string }) {
  const grade = severity.toLowerCase();
  return <span class={`severity ${TONES[grade] ?? ""}`}>{grade}</span>;
}
