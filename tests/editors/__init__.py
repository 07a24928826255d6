"""Tests in the real editors. The window of VS Code is open until the last of them in a process."""
