/** Set-up outside of any hook or test. */
await new Promise((resolve) => setTimeout(resolve, 600_000));
