package com.acme;

import java.io.Serializable;

public class Empty implements Serializable {
}
