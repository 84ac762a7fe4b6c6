import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

interface ButtonProps {
  readonly onClick?: (event: MouseEvent) => void;
  readonly icon?: IconName;
  /** Label of a button that shows only an icon. */
  readonly label?: string;
  readonly title?: string | undefined;
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly disabled?: boolean;
  /** The account lacks the right: greyed, and a click says why. */
  readonly refused?: boolean;
  readonly pressed?: boolean | undefined;
  readonly submit?: boolean;
  /** Gets the focus when its dialog opens. */
  readonly focused?: boolean;
  readonly children?: ComponentChildren;
}

export function Button({ kind = 'plain', icon, label, title, refused, pressed, submit, focused, children, ...rest }: ButtonProps) {
  return (
    <button
      type={submit ? 'submit' : 'button'}
      class={`button ${kind}${children ? '' : ' only-icon'}`}
      aria-label={label}
      aria-pressed={pressed}
      aria-disabled={refused || undefined}
      title={title ?? label}
      data-focus={focused}
      {...rest}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
