/** The report of a compute's doctor: present and missing programs, the packages to install, and whether KVM works. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Finding } from '../../src/schema/finding.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';

/** Empty until it is loaded, and for stock GNS3 computes, which have no doctor. A request takes a few seconds. */
export function useFindings(computeId: string, isWanted: boolean): Signal<readonly Finding[] | undefined> {
  const { api } = useApp();
  const findings = useSignal<readonly Finding[] | undefined>(undefined);
  useEffect(() => {
    if (!isWanted) return;
    api.get<Finding[]>(`/v2/computes/${encodeURIComponent(computeId)}/doctor`).then(
      (found) => (findings.value = found),
      () => (findings.value = []),
    );
  }, [api, computeId, isWanted, findings]);
  return findings;
}

/** The full report for the server's page, requested when it opens. */
export function DoctorDetails({ computeId, name }: { readonly computeId: string; readonly name: string }) {
  const isOpen = useSignal(false);
  const findings = useFindings(computeId, isOpen.value);
  return (
    <details class="doctor" onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>{texts.serverPage.doctor(name)}</summary>
      {findings.value === undefined && <p>{texts.loading}</p>}
      {findings.value?.length === 0 && <p>{texts.serverPage.noDoctor}</p>}
      <FindingList findings={findings.value ?? []} />
    </details>
  );
}

/** Findings that keep a node type from running or slow it down. */
export const findingsOf = (findings: readonly Finding[] | undefined, nodeType: string): readonly Finding[] =>
  (findings ?? []).filter(({ state, node_types }) => state !== 'good' && node_types?.some((type) => type === nodeType));

interface NodeFindingsProps {
  readonly computeId: string;
  readonly nodeType: string;
  readonly isRunning: boolean;
}

/** Missing programs of this node type, for a node's panel; before it runs those that make it slow, too. */
export function NodeFindings({ computeId, nodeType, isRunning }: NodeFindingsProps) {
  const findings = findingsOf(useFindings(computeId, true).value, nodeType);
  return <FindingList findings={isRunning ? findings.filter(({ state }) => state === 'missing') : findings} />;
}

function FindingList({ findings }: { readonly findings: readonly Finding[] }) {
  if (findings.length === 0) return null;
  return (
    <ul class="plain-list">
      {findings.map(({ state, what, found, package: packages }) => (
        <li key={what}>
          <span class={`dot ${dots[state]}`} />
          <span>
            <strong>{what}</strong>
            <small>
              {texts.serverPage.findings[state]}: {found}
            </small>
            {packages && <small class="code">apt-get install {packages}</small>}
          </span>
        </li>
      ))}
    </ul>
  );
}

const dots = { good: 'started', note: 'suspended', missing: 'failed' } as const;
